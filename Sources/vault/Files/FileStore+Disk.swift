internal import CofferFileContent
internal import CofferCore
internal import CofferDatabase

// Contents on the disk follow the catalog: after each transaction, and at the start of the daemon.

extension FileStore {
    /// Updates the disk after a transaction was committed.
    ///
    /// If this fails, ``recover()`` finishes it.
    package func settle() {
        openContents.keepChanges()
        dead.settle(making: toPlace)
        for id in toPlace { try? contents.place(id) }
        toPlace = []
        openFiles.settle()
        orphans.settle()
    }

    /// Frees what no row names any more, once that is on the disk: before, a power cut would bring the rows back.
    package func settleSynced() {
        openFiles.settleSynced(keepingSlots: dead.areKept)
        dead.settleSynced()
    }

    /// Updates the disk after a transaction was rolled back.
    ///
    /// - Parameter isCertain: Whether nothing of the transaction can be on the disk. Otherwise its contents stay
    ///   staged, and ``recover()`` decides.
    package func abandon(isCertain: Bool) {
        openFiles.abandon(isCertain: isCertain)
        if isCertain { for id in toPlace { contents.discardStaged(id) } }
        toPlace = []
        dead.abandon()
        orphans.abandon()
        openContents.undoChanges()
    }

    /// Finishes what a crash interrupted.
    package func recover() throws {
        for name in try contents.stagedNames() {
            if let id = ItemID(hexadecimal: name), try tree.contains(id) {
                try contents.place(id)
            } else if name.hasSuffix(ContentDirectory.overlaySuffix),
                let id = ItemID(hexadecimal: String(name.dropLast(ContentDirectory.overlaySuffix.count))),
                try tree.contains(id)
            {
                try contents.placeOverlay(id)
            } else {
                contents.discardStaged(named: name)
            }
        }
        contents.sweep()
        try openFiles.log.recover()
        try openFiles.recover()
        try dead.recover()
        try orphans.recover()
    }
}
