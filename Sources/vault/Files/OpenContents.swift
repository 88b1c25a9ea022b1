internal import CofferFileContent
internal import CofferCore

/// The contents that are being read or written, each with the current class of its file: a lock has to end some of
/// them.
///
/// A change of class takes effect when it is made. Until it is on the disk, the former class counts as well: if the
/// change is rolled back, no content may have survived a lock that its class does not allow.
struct OpenContents {
    private struct Handles {
        var protectionClass: ProtectionClass
        var keys: [ContentKey]
    }

    private var handles: [ItemID: Handles] = [:]
    /// Set by each use of a key.
    let uses = UseFlag()
    /// The former classes of contents whose change is not committed yet, open or not.
    private var formerClasses: [ItemID: ProtectionClass] = [:]

    /// The current class of an open content; `nil` if it is not open.
    func protectionClass(of id: ItemID) -> ProtectionClass? { handles[id]?.protectionClass }

    mutating func add(_ key: ContentKey, of id: ItemID, as protectionClass: ProtectionClass) {
        handles[id, default: Handles(protectionClass: protectionClass, keys: [])].keys.append(key)
    }

    mutating func remove(_ key: ContentKey, of id: ItemID) {
        handles[id]?.keys.removeAll { $0 === key }
        if handles[id]?.keys.isEmpty == true { handles[id] = nil }
    }

    /// Whether a content of a class that the passcode protects was used since the last call; being open is not a use.
    ///
    /// Asked only if ``uses`` was set.
    func takeKeyUses() -> Bool {
        handles.values.filter { $0.protectionClass != .none }.flatMap(\.keys)
            .reduce(false) { $1.takeUse() || $0 }
    }

    /// Wipes the keys of all contents whose class, or former class, does not allow them to continue in a state of the
    /// vault.
    mutating func revoke(in state: VaultState) {
        for (id, open) in handles {
            let classes = [open.protectionClass, formerClasses[id] ?? open.protectionClass]
            if classes.allSatisfy({ $0.permits(.proceed, in: state) }) { continue }
            for key in open.keys { key.revoke() }
            handles[id] = nil
        }
    }

    // MARK: Changes of class

    /// Moves a content to another class.
    mutating func change(_ id: ItemID, from old: ProtectionClass, to new: ProtectionClass) {
        formerClasses[id] = formerClasses[id] ?? old
        handles[id]?.protectionClass = new
    }

    /// The transaction was committed: drops the former classes.
    mutating func keepChanges() { formerClasses = [:] }

    /// The transaction was rolled back: restores the former classes.
    mutating func undoChanges() {
        for (id, protectionClass) in formerClasses { handles[id]?.protectionClass = protectionClass }
        formerClasses = [:]
    }
}
