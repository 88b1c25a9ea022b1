internal import CofferCore
internal import CofferDatabase

// The disk follows the catalog: after each transaction, and when the store comes up.

extension FileStore {
    /// Follows the catalog after its transaction was committed.
    ///
    /// What fails here is made up for by ``recover()``.
    package func settle() {
        openContents.keepChanges()
        for id in toPlace { try? contents.place(id) }
        toPlace = []
        for id in toPlaceOverlays where (try? contents.placeOverlay(id)) != nil {
            openFiles.values.first { $0.id == id }?.overlayIsPlaced()
        }
        toPlaceOverlays = []
        for file in committing { file.endCommit() }
        committing = []
        creating = []
        unlinking = []
        // What cannot be looked up stays, until the store comes up.
        removed += toRemove.filter { id in (try? tree.contains(id)) == false && (try? contents.remove(id)) != nil }
        toRemove = []
    }

    /// Strikes contents that were removed from the list of the dead.
    ///
    /// It rides on the next change: a commit of its own would cost every replacement a second sync.
    func forgetRemoved() throws {
        for id in removed {
            try connection.execute("DELETE FROM file_dead_contents WHERE content = ?", .blob(id.bytes))
        }
        removed = []
    }

    /// Follows the catalog after its transaction was undone.
    ///
    /// - Parameter isCertain: Whether nothing of the transaction can be on the disk. Otherwise its contents stay staged,
    ///   and ``recover()`` finds out.
    package func abandon(isCertain: Bool) {
        for file in creating {
            close(file.content.key, of: file.id)
            openFiles[file.node] = nil
            if isCertain { contents.discardStagedOverlay(file.id) }
        }
        creating = []
        if isCertain { for id in toPlace { contents.discardStaged(id) } }
        toPlace = []
        toPlaceOverlays = []
        toRemove = []
        for file in committing { file.undoCommit() }
        committing = []
        for file in unlinking {
            file.undoUnlinking()
            openFiles[file.node] = file
        }
        unlinking = []
        openContents.undoChanges()
    }

    /// Finishes what a crash cut off.
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
        var dead: [ItemID] = []
        try connection.rows("SELECT content FROM file_dead_contents") { row in
            if let id = ItemID(try row.blob(0)) { dead.append(id) }
            return true
        }
        if dead.isEmpty { return }
        // One that a row names after all is not dead, whatever this table says.
        for id in dead where try !tree.contains(id) { try contents.remove(id) }
        try connection.execute("DELETE FROM file_dead_contents")
    }
}
