package import CofferCore
internal import CofferFiles
internal import CofferKeychain

/// What the changes of a turn are told as to those who watch, once they are on the disk.
package final class ItemChangeLog {
    /// Whether anybody watches: otherwise nothing is kept.
    package var isWanted = false
    private var entries: [ItemChange] = []
    private var untoldCount = 0

    /// How far it has come.
    struct Mark {
        fileprivate let entryCount: Int
        fileprivate let untoldCount: Int
    }

    var mark: Mark { Mark(entryCount: entries.count, untoldCount: untoldCount) }

    /// Forgets what was noted since: it was undone.
    func forget(since mark: Mark) {
        entries.removeLast(entries.count - mark.entryCount)
        untoldCount = mark.untoldCount
    }

    /// Notes a change, if anybody wants to know of it.
    ///
    /// - Parameter change: The change; what it throws undoes it. `nil` for none.
    func note(_ change: @autoclosure () throws -> ItemChange?) rethrows {
        guard isWanted else { return }
        guard entries.count < Limits.toldChanges else { return noteUntold(1) }
        if let change = try change() { entries.append(change) }
    }

    /// Notes changes that are not told one by one.
    func noteUntold(_ count: Int) {
        if isWanted { untoldCount += count }
    }

    /// Takes out what was noted.
    package func takeEvents() -> [VaultEvent] {
        defer { (entries, untoldCount) = ([], 0) }
        return (entries.isEmpty ? [] : [.itemsDidChange(entries)])
            + (untoldCount == 0 ? [] : [.eventsMissed(untoldCount)])
    }
}

extension StoredItem {
    /// A change of the item.
    func change(_ kind: ItemChange.Kind) -> ItemChange {
        switch self {
        case .keychain(let item): ItemChange(kind, item)
        case .file(let file): ItemChange(kind, file)
        }
    }

    /// What has become of the item, which had another name.
    func renamed(from formerName: ItemName) -> ItemChange {
        switch self {
        case .keychain(let item): ItemChange(.renamed, item.id, item.attributes, formerName: formerName)
        case .file(let file):
            ItemChange(.renamed, in: .file, group: file.group, name: file.path, formerName: formerName.path)
        }
    }
}

extension ItemChange {
    init(_ kind: Kind, _ item: KeychainItem) { self.init(kind, item.id, item.attributes) }

    init(_ kind: Kind, _ id: ItemID, _ attributes: ItemAttributes, formerName: ItemName? = nil) {
        self.init(
            kind,
            in: .keychain,
            group: attributes.group,
            name: attributes.name?.path,
            formerName: formerName?.path,
            itemClass: attributes.itemClass,
            reference: id
        )
    }

    init(_ kind: Kind, _ file: FileItem) { self.init(kind, in: .file, group: file.group, name: file.path) }

    init(_ kind: Kind, file name: ItemName, in group: String, formerName: ItemName? = nil) {
        self.init(kind, in: .file, group: group, name: name.path, formerName: formerName?.path)
    }
}
