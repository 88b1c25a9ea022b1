internal import CofferCore

/// The contents that are being read or written, each with the class that its file has now: what a lock has to end.
///
/// A change of class counts from the moment that it is made. Until it is on the disk the former class counts as well: if the
/// change is undone, nothing may have outlived a lock that its class does not let live.
struct OpenContents {
    private struct Handles {
        var protectionClass: ProtectionClass
        var keys: [ContentKey]
    }

    private var handles: [ItemID: Handles] = [:]
    /// The classes of contents whose change waits for its commit, open or not.
    private var formerClasses: [ItemID: ProtectionClass] = [:]

    /// The class that the file of an open content has now; `nil` where it is not open.
    func protectionClass(of id: ItemID) -> ProtectionClass? { handles[id]?.protectionClass }

    mutating func add(_ key: ContentKey, of id: ItemID, as protectionClass: ProtectionClass) {
        handles[id, default: Handles(protectionClass: protectionClass, keys: [])].keys.append(key)
    }

    mutating func remove(_ key: ContentKey, of id: ItemID) {
        handles[id]?.keys.removeAll { $0 === key }
        if handles[id]?.keys.isEmpty == true { handles[id] = nil }
    }

    /// Whether one of a class that the passcode protects was used since this was asked last: one that is only open is not.
    func takeUse() -> Bool {
        handles.values.filter { $0.protectionClass != .none }.flatMap(\.keys)
            .reduce(false) { $1.takeUse() || $0 }
    }

    /// Wipes the keys of all whose class, or the one of before this turn, does not let them go on in a state of the vault.
    mutating func revoke(in state: VaultState) {
        for (id, open) in handles {
            let classes = [open.protectionClass, formerClasses[id] ?? open.protectionClass]
            if classes.allSatisfy({ $0.permits(.proceed, in: state) }) { continue }
            for key in open.keys { key.revoke() }
            handles[id] = nil
        }
    }

    // MARK: Changes of class

    /// Counts the handles of a content among those of another class.
    mutating func change(_ id: ItemID, from old: ProtectionClass, to new: ProtectionClass) {
        formerClasses[id] = formerClasses[id] ?? old
        handles[id]?.protectionClass = new
    }

    /// Follows the catalog: the changes are on the disk.
    mutating func keepChanges() { formerClasses = [:] }

    /// Follows the catalog: the changes are undone.
    mutating func undoChanges() {
        for (id, protectionClass) in formerClasses { handles[id]?.protectionClass = protectionClass }
        formerClasses = [:]
    }
}
