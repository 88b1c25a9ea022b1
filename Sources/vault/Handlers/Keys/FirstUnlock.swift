internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferPast
internal import CofferVault
internal import CofferWire

extension VaultHandlers {
    /// Completes what had to wait until names can be read, if they can be now: after the first unlock, and after the
    /// keys of an earlier daemon were restored.
    ///
    /// What was replaced gets back what it had, before any request can see it. Rows of the tree follow in slices.
    package func settleFirstUnlock() {
        guard openKeys?.opensNames == true, let catalog = try? catalog else { return }
        catalog.files.forgetRecentMetadata()
        // If the disk is full, the next unlock tries again.
        try? catalog.restoreReplaced()
        let faults = catalog.faults
        try? catalog.recordWaiting()
        for fault in catalog.faults where !faults.contains(fault) { shared.vault.settings.reportFault(fault) }
        if (try? catalog.files.hasDeferredRows()) == true {
            shared.chores.append(Chore(tenant: 0) { [self] call in try perform(DeferredRows(), call) })
        }
        handlers.trash.sweepTrash()
    }
}

extension Catalog {
    fileprivate func restoreReplaced() throws {
        guard try past.hasAside else { return }
        try change { _ in
            try keychain.restoreReplaced()
            try files.versions.restoreReplaced()
        }
    }

    /// Records what was written and not synced before an earlier daemon was killed.
    fileprivate func recordWaiting() throws {
        guard files.openFiles.hasWaiting else { return }
        try change { _ in try files.openFiles.recordWaiting() }
    }
}

/// Completes the changes of the tree that wait for the first unlock.
///
/// If it fails or a lock ends it, the next unlock continues it.
private final class DeferredRows: SlicedWork {
    package private(set) var changedCount = 0
    package var doneCount: Int { changedCount }

    package func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        let isDone = try catalog.change { _ in
            func isEnoughNow() -> Bool {
                changedCount += 1
                return isEnough()
            }
            return try catalog.files.settleDeferred(until: isEnoughNow)
        }
        return isDone ? Reply(Empty()) : nil
    }
}
