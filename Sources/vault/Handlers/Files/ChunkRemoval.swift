internal import CofferFiles
internal import CofferVault
internal import CofferWire

extension VaultHandlers {
    /// Has the rows of chunks removed whose files were removed.
    package func removeOrphanedChunks() {
        guard let orphans = openCatalog?.files.orphans, orphans.beginRemoval() else { return }
        shared.chores.append(
            Chore(tenant: 0) { [self] call in
                let removal = ChunkRemoval()
                call.atEnd { orphans.endRemoval(isComplete: removal.isComplete) }
                return try perform(removal, call)
            }
        )
    }

    /// Whether that has failed since the last call.
    package func takeFailedRemoval() -> Bool { openCatalog?.files.orphans.takeFailure() == true }
}

/// The removal of the rows of chunks whose files were removed.
private final class ChunkRemoval: SlicedWork {
    private(set) var isComplete = false
    private(set) var changedCount = 0
    var doneCount: Int { changedCount }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        isComplete = try catalog.change(isRemoval: true) { _ in
            repeat {
                if try catalog.files.orphans.removeSome() { return true }
                changedCount += 1
            } while !isEnough()
            return false
        }
        return isComplete ? Reply(Empty()) : nil
    }
}
