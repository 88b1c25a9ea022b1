internal import CSQLite

extension Connection {
    private static let chunkBytes: Int32 = 64 << 10
    private static let pageBytes: Int64 = 4096

    /// A number that is another one after each change of the file, as long as the connection is open.
    package var dataVersion: UInt32 {
        var version: UInt32 = 0
        _ = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    /// Allocates the disk space that the database file needs for the next checkpoint.
    ///
    /// Otherwise, on a full disk, the log could not be checkpointed, and each removal would need more space.
    ///
    /// - Throws: `full` if there is not enough space, `ioError`: the open transaction must not be committed then.
    package func reserveRoom() throws {
        let pages = try row("PRAGMA page_count") { try $0.integer(0) } ?? 0
        var byteCount = pages * Self.pageBytes
        if byteCount <= roomyBytes { return }
        var chunkBytes = Self.chunkBytes
        _ = unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_CHUNK_SIZE, &chunkBytes)
        let size = byteCount
        coffer_forget_errno()
        let code = unsafe sqlite3_file_control(handle, nil, SQLITE_FCNTL_SIZE_HINT, &byteCount)
        guard code == SQLITE_OK else { throw lackOfRoom(code, coffer_errno(), size + Int64(chunkBytes)) }
        roomyBytes = size
    }

    private func lackOfRoom(_ code: Int32, _ systemCode: Int32, _ byteCount: Int64) -> DatabaseError {
        // Where SQLite writes to the end of the file, the system says why that fails. Where it calls posix_fallocate(3),
        // nothing does.
        let error = DatabaseError(code: code, systemCode: systemCode, unsafe String(cString: sqlite3_errstr(code)))
        if systemCode != 0, error.kind != .full { return error }
        let isLimited = coffer_exceeds_file_size_limit(byteCount) != 0
        let cause = isLimited ? coffer_file_too_large : systemCode == 0 ? coffer_no_room : systemCode
        return DatabaseError(.full, code: SQLITE_FULL, systemCode: cause, "no room for the pages of the database")
    }
}
