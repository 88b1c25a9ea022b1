package import CofferFileContent
internal import CofferCore
internal import CofferDatabase
internal import CofferSystem

/// Chunks of open files that are synced by the catalog alone.
///
/// A sync of few chunks writes them to the catalog's log, sealed as they are: so it is one sync of the disk, where a sync of the
/// overlay and one of the commit would be two in order. The overlay has them as well, in the kernel's cache; a later sync of it
/// makes their rows superfluous. After a crash, the start writes them to their slots again.
package final class ChunkLog {
    private let connection: Connection
    private let contents: ContentDirectory
    /// Whether the catalog may have logged chunks.
    private var isUsed = false
    /// The bytes of the logged chunks of open files.
    private var byteCount = 0
    /// Contents with logged chunks that the disk has refused: the kernel may have dropped them from its cache since, so the
    /// next start writes them again.
    private var kept: Set<ItemID> = []

    init(_ connection: Connection, _ contents: ContentDirectory) {
        self.connection = connection
        self.contents = contents
    }

    /// Plans to sync an open file by the catalog alone.
    ///
    /// - Parameter file: The file, which the caller has claimed.
    /// - Returns: What the commit has to log; `nil` if it is much, or the overlay must be synced for another reason.
    package func plan(_ file: OpenFile) -> [LoggedChunk]? {
        guard let overlay = file.content.overlay, file.mayLog, file.pendingCount <= Limits.loggedChunks,
            !kept.contains(file.id)
        else { return nil }
        let byteCount = overlay.loggedByteCount(of: file.pendingSlots)
        guard byteCount <= Limits.loggedBytes,
            file.overlayState.loggedByteCount + byteCount <= Limits.loggedBytesOfFile,
            self.byteCount + byteCount <= Limits.loggedBytesOfVault
        else { return nil }
        var logged: [LoggedChunk] = []
        for slot in file.pendingSlots {
            guard let chunk = overlay.loggedChunk(in: slot) else { return nil }
            logged.append(chunk)
        }
        return logged
    }

    /// Records chunks within the open transaction.
    func add(_ logged: [LoggedChunk], of file: OpenFile) throws {
        for chunk in logged {
            isUsed = true
            file.overlayState.loggedByteCount += chunk.stored.count
            byteCount += chunk.stored.count
            try connection.execute(
                "INSERT OR REPLACE INTO file_logged_chunks (content, slot, stored) VALUES (?, ?, ?)",
                .blob(file.id.bytes),
                .integer(chunk.slot),
                .blob(chunk.stored)
            )
        }
    }

    /// Drops what was logged of a file whose overlay was synced, within the open transaction.
    func forget(of file: OpenFile) throws {
        settle(file)
        if !kept.contains(file.id) { try forget(of: file.id) }
    }

    /// Notes that the overlay of a file could not be synced.
    package func noteFailedSync(of file: OpenFile) {
        if file.overlayState.loggedByteCount > 0 { kept.insert(file.id) }
    }

    /// Drops what was logged of a content, within the open transaction.
    func forget(of content: ItemID) throws {
        if !isUsed { return }
        try connection.execute("DELETE FROM file_logged_chunks WHERE content = ?", .blob(content.bytes))
    }

    /// Drops what was logged of a slot that becomes free, within the open transaction: a later chunk in it must not be
    /// overwritten after a crash.
    func forget(in slot: Int64, of content: ItemID) throws {
        if !isUsed { return }
        try connection.execute(
            "DELETE FROM file_logged_chunks WHERE content = ? AND slot = ?",
            .blob(content.bytes),
            .integer(slot)
        )
    }

    /// Counts the chunks of a file as logged no more.
    func settle(_ file: OpenFile) {
        byteCount -= file.overlayState.loggedByteCount
        file.overlayState.loggedByteCount = 0
    }

    // MARK: After a crash

    /// Writes logged chunks to their slots.
    ///
    /// What can't be written stays for the next start.
    func recover() throws {
        var contents: [ItemID] = []
        try connection.rows("SELECT DISTINCT content FROM file_logged_chunks") { row in
            // A row of another size names nothing.
            if let id = ItemID(try row.blob(0)) { contents.append(id) }
            return true
        }
        for id in contents {
            // Slots that are written before all of them are dropped must not be overwritten later.
            isUsed = true
            if try recover(of: id) { try forget(of: id) }
        }
    }

    /// - Returns: Whether its chunks are on the disk, or it is gone.
    private func recover(of id: ItemID) throws -> Bool {
        var logged: [LoggedChunk] = []
        try connection.rows("SELECT slot, stored FROM file_logged_chunks WHERE content = ?", .blob(id.bytes)) { row in
            logged.append(LoggedChunk(slot: try row.integer(0), stored: try row.blob(1)))
            return true
        }
        return contents.restore(logged, of: id)
    }
}
