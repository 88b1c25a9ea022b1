internal import CSQLite

extension Connection {
    private static let chunkBytes: Int32 = 64 << 10
    private static let pageBytes: Int64 = 4096

    /// Allocates the disk space that the database file needs for the next checkpoint.
    ///
    /// Otherwise, on a full disk, the log could not be checkpointed, and each removal would need more space.
    ///
    /// - Throws: `full` if there is not enough space: the open transaction must not be committed then.
    package func reserveRoom() throws {
        let pages = try row("PRAGMA page_count") { try $0.integer(0) } ?? 0
        var byteCount = pages * Self.pageBytes
        if byteCount <= roomyBytes { return }
        var chunkBytes = Self.chunkBytes
        _ = unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_CHUNK_SIZE, &chunkBytes)
        let size = byteCount
        let code = unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_SIZE_HINT, &byteCount)
        guard code == SQLITE_OK else {
            let isLimited = coffer_exceeds_file_size_limit(size + Int64(chunkBytes)) != 0
            let cause = isLimited ? coffer_file_too_large : coffer_no_room
            throw DatabaseError(.full, code: SQLITE_FULL, systemCode: cause, "no room for the pages of the database")
        }
        roomyBytes = size
    }
}
