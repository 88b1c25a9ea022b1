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
        for file in toPlaceOverlays where (try? contents.placeOverlay(file.id)) != nil { file.overlayIsPlaced() }
        toPlaceOverlays = []
        for file in committing where file.endCommit() { freeing.append(file) }
        committing = []
        creating = []
        unlinking = []
    }

    /// Frees what no row names any more, once that is on the disk: before, a power cut would bring the rows back.
    package func settleSynced() {
        let freed = freeing
        freeing = []
        for file in freed {
            file.freeForgotten(keepingSlots: dead.areKept)
            close(file)
        }
        dead.settleSynced()
    }

    /// Updates the disk after a transaction was rolled back.
    ///
    /// - Parameter isCertain: Whether nothing of the transaction can be on the disk. Otherwise its contents stay
    ///   staged, and ``recover()`` decides.
    package func abandon(isCertain: Bool) {
        for file in creating {
            openContents.close(file.content.key, of: file.id)
            openFiles[file.node] = nil
            file.undoCreation()
            if isCertain { contents.discardStagedOverlay(file.id) }
        }
        creating = []
        if isCertain { for id in toPlace { contents.discardStaged(id) } }
        toPlace = []
        toPlaceOverlays = []
        dead.abandon()
        for file in committing { file.undoCommit() }
        committing = []
        for file in unlinking {
            file.undoUnlinking()
            openFiles[file.node] = file
        }
        unlinking = []
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
        try log.recover()
        try dead.recover()
    }
}
