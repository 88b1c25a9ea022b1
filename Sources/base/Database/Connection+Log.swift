internal import CLogWriter
internal import CSQLite
internal import CofferCore

/// Tracks the log of an open database, and checkpoints it.
///
/// It replaces SQLite's own hook, which would checkpoint the log without notice.
@safe
final class LogWatch {
    private var frameCount: UInt32 = 0
    private var isBackfilled = false
    private var salts: UInt64?
    /// Whether the log is written in large pieces; SQLite opens it late.
    private var isGathering = false
    /// The generation of the log in which commits may be deferred.
    private var deferringSalts: UInt64?
    /// Whether the commit that is being made is deferred.
    private var isDeferring = false
    /// Whether commits were deferred and are not synced yet.
    private(set) var isUnsynced = false

    /// Registers with a connection, which must retain this object while it is open.
    func watch(_ handle: OpaquePointer) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe sqlite3_wal_hook(
            handle,
            { context, handle, _, frameCount in
                guard let context = unsafe context, let handle = unsafe handle else { return SQLITE_OK }
                let watch = unsafe Unmanaged<LogWatch>.fromOpaque(context).takeUnretainedValue()
                unsafe watch.committed(UInt32(frameCount), handle)
                return SQLITE_OK
            },
            context
        )
    }

    private func committed(_ frameCount: UInt32, _ handle: OpaquePointer) {
        // A checkpoint would sync what was deferred.
        let mostFrames = unsafe mayDefer(handle) ? Limits.deferredLogFrames : Limits.logFrames
        // The checkpoint below syncs the log.
        unsafe endDeferring(handle)
        // After a checkpoint, the next transaction begins the log again, with other salts.
        if isBackfilled { salts = nil }
        isBackfilled = false
        self.frameCount = frameCount
        if !isGathering {
            isGathering = unsafe coffer_gather_log_writes(handle, Int32(Limits.logWriteBytes)) == SQLITE_OK
        }
        // If the checkpoint fails now, it is tried again with the next commit.
        if frameCount >= mostFrames { _ = unsafe checkpoint(handle, SQLITE_CHECKPOINT_PASSIVE) }
    }

    /// Checkpoints the log into the database file.
    ///
    /// - Returns: SQLite's result code.
    func checkpoint(_ handle: OpaquePointer, _ mode: Int32) -> Int32 {
        var (total, done): (Int32, Int32) = (-1, -1)
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, "main", mode, &total, &done)
        guard code == SQLITE_OK, total == done else { return code }
        _ = unsafe position(handle)
        isBackfilled = true
        isUnsynced = false
        if mode == SQLITE_CHECKPOINT_TRUNCATE { frameCount = 0 }
        return code
    }

    /// The end of the log; `nil` if nothing was committed since the database was opened, or the log is empty.
    func position(_ handle: OpaquePointer) -> LogPosition? {
        guard frameCount > 0 else { return nil }
        salts = unsafe salts ?? Self.salts(handle)
        return salts.map { LogPosition(salts: $0, frameCount: frameCount, isBackfilled: isBackfilled) }
    }

    // MARK: Deferring

    /// Whether the next commit adds to a generation of the log in which commits may be deferred: one that begins the log
    /// has to sync its header first.
    private func mayDefer(_ handle: OpaquePointer) -> Bool {
        guard isGathering, !isBackfilled, let deferringSalts else { return false }
        return unsafe position(handle)?.salts == deferringSalts
    }

    /// Permits deferred commits in the generation of a position.
    func permitDeferring(at position: LogPosition) { deferringSalts = position.salts }

    /// Has the commit that follows only write the log.
    ///
    /// - Returns: Whether it does.
    func beginDeferring(_ handle: OpaquePointer) -> Bool {
        isDeferring = unsafe mayDefer(handle) && coffer_defer_log_syncs(handle, 1) == SQLITE_OK
        return isDeferring
    }

    /// Ends what ``beginDeferring(_:)`` has begun, also if the commit has failed.
    func endDeferring(_ handle: OpaquePointer) {
        guard isDeferring else { return }
        isDeferring = false
        isUnsynced = true
        _ = unsafe coffer_defer_log_syncs(handle, 0)
    }

    /// Records that a commit has synced the log.
    func didSync() { isUnsynced = false }

    /// Syncs the deferred commits.
    ///
    /// - Returns: SQLite's result code.
    func sync(_ handle: OpaquePointer) -> Int32 {
        let code = unsafe coffer_sync_log(handle)
        if code == SQLITE_OK { isUnsynced = false }
        return code
    }

    private static func salts(_ handle: OpaquePointer) -> UInt64? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
        guard code == SQLITE_OK, let file = unsafe file, let read = unsafe file.pointee.pMethods?.pointee.xRead else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: LogFormat.headerBytes)
        let isRead = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe read(file, buffer.baseAddress, Int32(buffer.count), 0) == SQLITE_OK
        }
        return isRead ? LogFormat.Header(bytes)?.salts : nil
    }
}

extension Connection {
    /// The end of the log; `nil` if nothing was committed since the database was opened, or the log is empty.
    package var logPosition: LogPosition? { unsafe logWatch.position(handle) }

    /// Whether commits were deferred and are not synced yet.
    package var hasUnsyncedCommits: Bool { logWatch.isUnsynced }

    /// Permits deferred commits until the log begins again.
    ///
    /// - Parameter position: The end of the log, which a mark on the disk names as one after which commits are deferred.
    package func permitDeferredCommits(after position: LogPosition) { logWatch.permitDeferring(at: position) }

    /// Syncs the commits that were deferred.
    ///
    /// - Throws: SQLite's error; they are still to be synced then.
    package func syncDeferredCommits() throws(DatabaseError) {
        guard logWatch.isUnsynced else { return }
        coffer_forget_errno()
        let code = unsafe logWatch.sync(handle)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Checkpoints the log into the database file, and syncs that file.
    ///
    /// - Parameter truncates: Whether to truncate the log as well.
    /// - Throws: `misuse` if a transaction is open; SQLite's error. The log is unchanged then.
    package func checkpoint(truncates: Bool = false) throws(DatabaseError) {
        guard level == 0 else { throw .misuse("a checkpoint inside a transaction") }
        let mode = truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = unsafe logWatch.checkpoint(handle, mode)
        guard code == SQLITE_OK else { throw failure(code) }
    }
}
