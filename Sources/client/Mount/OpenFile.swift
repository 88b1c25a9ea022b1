internal import CofferClient
internal import CofferCore
internal import CofferSystem
internal import CofferWire
internal import Glibc
internal import Synchronization

/// A file that programs have open: all of them share one handle for reading, and one for writing, because the daemon
/// lets one handle write a file.
final class OpenFile: Sendable {
    /// A handle of the daemon.
    private struct Handle: Equatable {
        let number: Int64
        let epoch: Int

        /// One that has to be opened again.
        static let lost = Handle(number: 0, epoch: -1)
    }

    private struct State {
        var reader: Handle?
        var writer: Handle?
        /// How many times programs have it open, and how many of these for writing.
        var users = 0
        var writers = 0
        /// How many changes were made, and how many of them are on the disk.
        var changeCount = 0
        var syncedCount = 0
        /// What was written last.
        var lastChange: ClosedFiles.Change?

        /// Whether what was written last is in the file: a daemon that ends in order syncs all files.
        func hasKeptChanges(_ file: FileInfo?) -> Bool {
            guard let file, let lastChange, !lastChange.hasStatedTime else { return false }
            return lastChange.isIn(file)
        }

        /// Counts one more program.
        mutating func addUser(isWriting: Bool) {
            users += 1
            if isWriting { writers += 1 }
        }
    }

    /// Whom losses concern.
    ///
    /// A program that ends or starts another one closes files: it must not wait for one that is being opened.
    private struct Losses {
        /// How many times changes were lost.
        var count = 0
        /// For each time that it is open, how many losses its program was notified of.
        var reported: [UInt64: Int] = [:]
        var nextOpening: UInt64 = 1

        /// Begins an opening.
        mutating func add() -> UInt64 {
            defer { nextOpening += 1 }
            // What was lost before is not its loss.
            reported[nextOpening] = count
            return nextOpening
        }

        /// Whether an opening was not notified of all losses.
        func concern(_ opening: UInt64) -> Bool { reported[opening, default: count] < count }
    }

    /// The number of the file.
    let number: UInt64
    private let connection: DaemonConnection
    private let group: String?
    private let closedFiles: ClosedFiles
    private let path: @Sendable () throws(Errno) -> ItemName
    private let state = Mutex(State())
    private let losses = Mutex(Losses())
    private let specialBits = Atomic(true)

    /// - Parameters:
    ///   - number: The number of the file.
    ///   - connection: The connection to which its handles belong.
    ///   - group: Its access group.
    ///   - closedFiles: Where it is recorded if it is closed before it is synced.
    ///   - path: Finds its current name, to open it again.
    init(
        _ number: UInt64,
        on connection: DaemonConnection,
        in group: String?,
        recordedIn closedFiles: ClosedFiles,
        path: @escaping @Sendable () throws(Errno) -> ItemName
    ) {
        self.number = number
        self.connection = connection
        self.group = group
        self.closedFiles = closedFiles
        self.path = path
    }

    /// Whether its mode may have bits that a change of its content drops.
    var mayHaveSpecialBits: Bool {
        get { specialBits.load(ordering: .relaxed) }
        set { specialBits.store(newValue, ordering: .relaxed) }
    }

    // MARK: Opening and closing

    /// Opens the file for one more program.
    ///
    /// - Parameters:
    ///   - isWriting: Whether the program writes.
    ///   - params: How to open it, if no handle of this kind is open.
    /// - Returns: The number of this opening, and whether the daemon has opened the file now.
    func open(isWriting: Bool, _ params: FileOpenParameters) throws(Errno) -> (opening: UInt64, isOpened: Bool) {
        try state.withLock { (state) throws(Errno) in
            var isOpened = false
            if isWriting ? state.writer == nil : (state.writer ?? state.reader) == nil {
                let handle = try open(params).handle
                if isWriting { state.writer = handle } else { state.reader = handle }
                isOpened = true
            }
            state.addUser(isWriting: isWriting)
            return (losses.withLock { $0.add() }, isOpened)
        }
    }

    /// Takes over the handle that created the file.
    ///
    /// - Returns: The number of this opening.
    func adopt(_ handle: Int64, _ epoch: Int, isWriting: Bool) -> UInt64 {
        state.withLock { state in
            state.writer = Handle(number: handle, epoch: epoch)
            state.addUser(isWriting: isWriting)
            return losses.withLock { $0.add() }
        }
    }

    /// Whether its connection waits for an answer.
    var isWaiting: Bool { connection.isWaiting }

    /// Whether a program has it open for writing.
    var isWritten: Bool { state.withLock { $0.writer != nil } }

    /// Closes the file for one program; the last one closes it in the daemon.
    ///
    /// - Returns: Whether no handle is left open.
    func release(_ opening: UInt64, wasWriting: Bool) -> Bool {
        state.withLock { state in
            // Another request may have found out meanwhile: the program that closes it can't be told any more.
            if losses.withLock({ $0.concern(opening) }) { closedFiles.lose(number) }
            losses.withLock { $0.reported[opening] = nil }
            state.users -= 1
            if wasWriting { state.writers -= 1 }
            if state.users == 0 { close(&state.reader) }
            if state.writers == 0 { closeWriter(&state) }
            return state.users == 0 && state.reader == nil && state.writer == nil
        }
    }

    private func close(_ handle: inout Handle?) {
        guard let open = handle, open != .lost else { return handle = nil }
        do throws(CallFailure) {
            _ = try connection.call(FileCloseParameters(handle: open.number), in: open.epoch)
            handle = nil
        } catch .refused {
            // What was written could not be synced: the handle stays, and takes the next program that opens the file.
        } catch {
            handle = nil
        }
    }

    /// Closes the handle for writing; programs that go on reading get one of their own first.
    private func closeWriter(_ state: inout State) {
        if state.changeCount > state.syncedCount, let writer = state.writer, let change = state.lastChange {
            closedFiles.add(number, change, connection, epoch: writer.epoch)
        }
        if state.users > 0 && state.reader == nil {
            guard let name = try? path(), let opened = try? open(name, .read) else { return }
            state.reader = opened.handle
        }
        close(&state.writer)
    }

    /// Opens the file again after its connection broke.
    private func open(_ name: ItemName, _ access: FileAccess) throws(Errno) -> (handle: Handle, file: FileInfo?) {
        do throws(Errno) {
            return try open(FileOpenParameters(name: name, access: access, isShared: access.writes, group: group))
        } catch {
            // Another client has removed it.
            throw error.code == ENOENT ? .stale : error
        }
    }

    private func open(_ params: FileOpenParameters) throws(Errno) -> (handle: Handle, file: FileInfo?) {
        let reply = try openRepeatedly(params)
        // Another client may have replaced the file of this name: then the kernel looks it up again.
        if let inode = reply.value.file?.inode, UInt64(clamping: inode) != number {
            _ = try? connection.call(FileCloseParameters(handle: reply.value.handle), in: reply.epoch)
            throw .stale
        }
        if let mode = reply.value.file?.mode {
            mayHaveSpecialBits = UInt32(truncatingIfNeeded: mode) & (S_ISUID | S_ISGID) != 0
        }
        return (Handle(number: reply.value.handle, epoch: reply.epoch), reply.value.file)
    }

    /// Opens the file, again if the connection breaks before the answer: the handle has ended with it.
    private func openRepeatedly(_ params: FileOpenParameters) throws(Errno) -> DaemonConnection.Reply<FileOpenResult> {
        while true {
            do throws(CallFailure) {
                return try connection.call(params)
            } catch .unknownOutcome {
                continue
            } catch {
                throw Errno(error)
            }
        }
    }

    // MARK: Using

    /// Makes a call by a handle that reads.
    func read<Parameters: MethodParameters>(
        payload: Secret? = nil,
        _ params: (Int64) -> Parameters
    ) throws(Errno) -> DaemonConnection.Reply<Parameters.Result> {
        try call(isWriting: false, payload: payload, params)
    }

    /// Makes a call by the handle that writes.
    ///
    /// - Parameter byteCount: The size of the file that the answer tells, if it does.
    @discardableResult
    func write<Parameters: MethodParameters>(
        payload: Secret? = nil,
        byteCount: (Parameters.Result) -> Int64? = { _ in nil },
        _ params: (Int64) -> Parameters
    ) throws(Errno) -> DaemonConnection.Reply<Parameters.Result> {
        let start = wallClockNanoseconds()
        let begin = connection.recent.beginWrite(of: number)
        var count: Int64?
        defer { connection.recent.endWrite(of: number, begin, byteCount: count) }
        let reply = try call(isWriting: true, payload: payload, params)
        count = byteCount(reply.value)
        state.withLock { state in
            state.changeCount += 1
            state.lastChange = ClosedFiles.Change(start: start, byteCount: count)
        }
        return reply
    }

    /// Waits until what was written is on the disk.
    ///
    /// - Parameter opening: The opening by which a program asks for that; `nil` for the mount itself.
    /// - Throws: `EIO` once for each opening, if something that was written was lost before it was synced.
    func sync(_ opening: UInt64? = nil) throws(Errno) {
        try reportLoss(to: opening)
        // What is written during the sync waits for the next one.
        let (count, isWritten) = state.withLock { ($0.changeCount, $0.writer != nil) }
        // Another program, or another mount, may have written it and closed it.
        _ = try call(isWriting: isWritten, payload: nil) { FileSyncParameters(handle: $0) }
        state.withLock { $0.syncedCount = max($0.syncedCount, count) }
        try reportLoss(to: opening)
    }

    /// Notes that something was lost, for those who sync or close the file.
    ///
    /// - Parameter reason: Why, for the journal.
    func noteLoss(_ reason: Line) {
        losses.withLock { $0.count += 1 }
        Journal.report(lossOf: number, reason)
    }

    /// Tells a program that closes the file of a loss that no sync has reported to it yet.
    ///
    /// It stays for the sync: a child closes what it inherits when it starts another program, and heeds no error.
    func checkLoss(of opening: UInt64) throws(Errno) {
        if losses.withLock({ $0.concern(opening) }) { throw .readFailed }
    }

    /// Whether something that was written is not on the disk, as far as this mount knows.
    var hasUnsyncedChanges: Bool { state.withLock { $0.changeCount > $0.syncedCount } }

    /// Whether a program that has it open was not told of a loss yet.
    var hasUntoldLoss: Bool { losses.withLock { losses in losses.reported.keys.contains(where: losses.concern) } }

    /// Records that a program has stated when it was changed.
    func noteStatedTime() { state.withLock { $0.lastChange?.hasStatedTime = true } }

    /// - Throws: `EIO` once, if something that was written was lost since the file was opened.
    private func reportLoss(to opening: UInt64?) throws(Errno) {
        guard let opening else { return }
        let hasLost = losses.withLock { losses in
            defer { losses.reported[opening] = losses.count }
            return losses.concern(opening)
        }
        if hasLost { throw .readFailed }
    }

    private func call<Parameters: MethodParameters>(
        isWriting: Bool,
        payload: Secret?,
        _ params: (Int64) -> Parameters
    ) throws(Errno) -> DaemonConnection.Reply<Parameters.Result> {
        var (isRevived, isReplaced) = (false, false)
        while true {
            let handle = try handle(isWriting: isWriting)
            do throws(CallFailure) {
                return try connection.call(params(handle.number), payload: payload, in: handle.epoch)
            } catch .handleLost {
                try reopen(handle)
            } catch .refused(let error) where error.reason == .badHandle && !isReplaced {
                // Another thread has closed it meanwhile, and there is another one, or it was lost.
                isReplaced = true
                try reopen(handle)
            } catch .refused(let error) where error.code == .interactionNotAllowed && !isRevived {
                // A lock has ended the handle for good; after an unlock the file can be opened again.
                isRevived = true
                try revive(handle)
            } catch {
                throw Errno(error)
            }
        }
    }

    private func handle(isWriting: Bool) throws(Errno) -> Handle {
        guard let handle = state.withLock({ isWriting ? $0.writer : $0.writer ?? $0.reader }) else { throw .stale }
        return handle
    }

    /// Replaces a handle whose connection has broken, unless another thread has done so.
    private func reopen(_ lost: Handle) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            if state.writer == lost {
                let opened = try open(try path(), .readWrite)
                if state.changeCount > state.syncedCount, !state.hasKeptChanges(opened.file) {
                    noteLoss("the daemon ended before it was synced")
                }
                state.syncedCount = state.changeCount
                state.writer = opened.handle
            } else if state.reader == lost {
                state.reader = try open(try path(), .read).handle
            }
        }
    }

    /// Replaces a handle that a lock has ended.
    ///
    /// What was written by it is synced.
    private func revive(_ ended: Handle) throws(Errno) {
        state.withLock { state in
            guard state.writer == ended || state.reader == ended else { return }
            // As a writer it would keep others out.
            _ = try? connection.call(FileCloseParameters(handle: ended.number), in: ended.epoch)
            if state.writer == ended { state.writer = .lost }
            if state.reader == ended { state.reader = .lost }
            state.syncedCount = state.changeCount
        }
        try reopen(.lost)
    }
}

extension Errno {
    init(_ failure: CallFailure) {
        self =
            switch failure {
            case .refused(let error): Errno(error)
            case .handleLost: .stale
            case .away, .unknownOutcome: .away
            }
    }
}
