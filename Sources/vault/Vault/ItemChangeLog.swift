package import CofferCore
internal import CofferFiles
package import CofferKeychain

/// The changes of a turn, for subscribed clients, which are notified after the commit, and for the names that are kept.
package final class ItemChangeLog {
    /// Whether a client has subscribed.
    package var isWanted = false
    /// The names that follow the changes.
    package let names = KeptNames()
    /// The process whose request is being carried out; `nil` for the daemon itself.
    package var origin: Int32?
    private var entries: [(change: ItemChange, origin: Int32?)] = []
    private var missedCount = 0
    /// How many changes were made, recorded or not, or undone by a commit that failed.
    package internal(set) var madeCount = 0

    private var isRecording: Bool { isWanted || names.isFollowing }

    /// A position in the log.
    var mark: (entryCount: Int, missedCount: Int) { (entries.count, missedCount) }

    /// Drops the changes since a position: they were rolled back.
    func forget(since mark: (entryCount: Int, missedCount: Int)) {
        entries.removeLast(entries.count - mark.entryCount)
        missedCount = mark.missedCount
    }

    /// Records a change, if it is wanted.
    ///
    /// - Parameter change: The change; if it throws, the caller's change is rolled back. `nil` for none.
    package func note(_ change: @autoclosure () throws -> ItemChange?) rethrows {
        guard isRecording else { return }
        guard entries.count < Limits.toldChanges else { return noteUntold(1) }
        if let change = try change() { entries.append((change, origin)) }
    }

    /// Counts changes that are not reported one by one.
    package func noteUntold(_ count: Int) {
        if isRecording { missedCount += count }
    }

    /// Has the names follow the changes, which are committed.
    func settle() {
        if names.isFollowing { names.follow(entries.map(\.change), missedCount: missedCount) }
        if !isWanted { (entries, missedCount) = ([], 0) }
    }

    /// Takes out the recorded events, in order.
    package func takeEvents() -> [OriginatedEvent] {
        defer { (entries, missedCount) = ([], 0) }
        var events: [OriginatedEvent] = []
        var rest = entries[...]
        while let first = rest.first {
            let run = rest.prefix { $0.origin == first.origin }
            events.append(OriginatedEvent(.itemsDidChange(run.map(\.change)), of: first.origin))
            rest = rest.dropFirst(run.count)
        }
        if missedCount > 0 { events.append(OriginatedEvent(.eventsMissed(missedCount), of: nil)) }
        return events
    }
}

/// An event, and the process whose request has caused it.
package struct OriginatedEvent {
    package let event: VaultEvent
    /// `nil` for the daemon itself, or several.
    package let origin: Int32?

    init(_ event: VaultEvent, of origin: Int32?) {
        self.event = event
        self.origin = origin
    }
}

extension KeychainItem {
    /// The change of the item to other attributes: a renaming, if it is listed under another name then.
    package func change(to attributes: ItemAttributes) -> ItemChange {
        let isRenamed = !attributes.listedName(of: id).hasSameBytes(as: listedName)
        return ItemChange(isRenamed ? .renamed : .changed, id, attributes, formerName: isRenamed ? listedName : nil)
    }
}

extension StoredItem {
    package func change(_ kind: ItemChange.Kind) -> ItemChange {
        switch self {
        case .keychain(let item): ItemChange(kind, item)
        case .file(let file): ItemChange(kind, file)
        }
    }

    /// The renaming of the item, whose new name is set already.
    package func renamed(from formerName: ItemName) -> ItemChange {
        switch self {
        case .keychain(let item): ItemChange(.renamed, item.id, item.attributes, formerName: formerName.path)
        case .file(let file):
            ItemChange(
                .renamed,
                in: .file,
                group: file.group,
                name: file.path,
                formerName: formerName.path,
                inode: file.inode
            )
        }
    }
}
