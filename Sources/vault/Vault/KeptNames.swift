internal import CofferCore
internal import CofferKeychain
internal import CofferMemory

/// The opened names from which completions are answered, as long as they are those of the catalog.
///
/// They are dropped at each lock, and with every change that they can't follow.
package final class KeptNames {
    /// The names; `nil` if they have to be read first.
    package private(set) var list: NameList?
    /// Whether there are more names than are kept.
    package private(set) var isTooLong = false
    /// Whether changes have to be recorded for the list.
    private(set) var isFollowing = false
    private var changeCount = 0
    /// How often the names were dropped because keys have gone.
    package private(set) var forgetCount = 0

    /// Begins to read the names, which other requests may change meanwhile.
    ///
    /// - Returns: What ``keep(_:since:)`` wants.
    package func beginReading() -> Int {
        isFollowing = true
        return changeCount
    }

    /// Keeps names that were read, unless they were changed meanwhile.
    package func keep(_ names: NameList, since count: Int) {
        if count == changeCount { list = names }
    }

    package func noteTooLong() { isTooLong = true }

    /// Follows changes that were committed.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - missedCount: The number of further ones.
    func follow(_ changes: [ItemChange], missedCount: Int) {
        if changes.isEmpty && missedCount == 0 { return }
        changeCount += 1
        guard let list else { return }
        let isFollowed = missedCount == 0 && changes.allSatisfy { (try? Self.apply($0, to: list)) ?? false }
        if !isFollowed { self.list = nil }
    }

    /// Drops the names, which wipes them.
    package func forget() {
        list = nil
        (isTooLong, isFollowing) = (false, false)
        changeCount += 1
        forgetCount += 1
    }

    /// - Returns: Whether the list has followed the change.
    private static func apply(_ change: ItemChange, to list: NameList) throws -> Bool {
        let group = change.group
        switch (change.kind, change.store, change.name) {
        case (.changed, _, _): return true
        case (.added, .keychain, let name?): return try list.insert(name, in: group)
        case (.removed, .keychain, let name?): return remove(name, in: group, from: list)
        case (.renamed, .keychain, let name?):
            guard let former = change.formerName, remove(former, in: group, from: list) else { return false }
            return try list.insert(name, in: group)
        // A change of the tree may concern everything below it.
        default: return false
        }
    }

    /// Removes a name, unless several items may have it.
    private static func remove(_ name: String, in group: String, from list: NameList) -> Bool {
        if let name = try? ItemName(name), QualifiedName(name) != nil { return false }
        list.remove(name, in: group)
        return true
    }
}
