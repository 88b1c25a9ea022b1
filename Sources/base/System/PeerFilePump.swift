internal import CCofferShims
internal import CofferCore
internal import Glibc
internal import Synchronization

/// Moves bytes between a client's file and a pipe of the daemon, on a thread of its own.
///
/// The file may be on a file system that never answers. The thread that has keys and plaintext then waits for the pipe
/// only, and a lock ends that.
final class PeerFilePump: Sendable {
    private struct State {
        /// The bytes between the position and the end, when it began.
        var byteCount: Int64?
        var failure: SystemError?
    }

    private let file: Mutex<PeerDescriptor?>
    private let pipe: Mutex<OwnedDescriptor?>
    private let number: Int32
    private let pipeNumber: Int32
    private let isReading: Bool
    private let isRegular: Bool
    private let cancellation: Cancellation
    private let state = Mutex(State())
    private let end: WakeSignal

    private init(
        _ file: consuming PeerDescriptor,
        _ pipe: consuming OwnedDescriptor,
        isReading: Bool,
        isRegular: Bool,
        _ cancellation: Cancellation
    ) throws(SystemError) {
        number = file.number
        pipeNumber = pipe.number
        end = try WakeSignal()
        self.file = Mutex(file)
        self.pipe = Mutex(pipe)
        self.isReading = isReading
        self.isRegular = isRegular
        self.cancellation = cancellation
    }

    /// Starts a pump.
    ///
    /// - Parameters:
    ///   - file: The client's file.
    ///   - isReading: Whether the file is read.
    ///   - isRegular: Whether it is a regular file, which is always ready.
    ///   - cancellation: Ends the waiting.
    /// - Returns: The pump and the other end of its pipe.
    static func start(
        _ file: consuming PeerDescriptor,
        isReading: Bool,
        isRegular: Bool,
        _ cancellation: Cancellation
    ) throws(SystemError) -> (PeerFilePump, Int32) {
        let party = file.party
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe coffer_pipe(&ends, Int32(Limits.peerPipeBytes)) }
        let pipe = OwnedDescriptor(owning: isReading ? ends[1] : ends[0])
        let other = OwnedDescriptor(owning: isReading ? ends[0] : ends[1])
        // Larger writes than a page, as many bytes as there is space for.
        try UnixSocket.setNonBlocking(other)
        let pump = try PeerFilePump(file, pipe, isReading: isReading, isRegular: isRegular, cancellation)
        guard PeerFiles.start(for: party, { pump.run() }) else { throw SystemError("pthread_create", code: EAGAIN) }
        return (pump, other.release())
    }

    /// The bytes between the position and the end of the file when the pump began; `nil` until then.
    var byteCount: Int64? { state.withLock { $0.byteCount } }

    /// Why it has ended early.
    var failure: SystemError? { state.withLock { $0.failure } }

    /// Waits until all bytes were moved and the file is closed.
    func wait() throws(TransferError) {
        switch coffer_wait_ready(end.descriptor.number, Int16(POLLIN), cancellation.descriptor) {
        case 1: break
        case 0: throw .cancelled
        default: throw .system(SystemError("poll"))
        }
        if let failure { throw .system(failure) }
    }

    private func run() {
        do throws(SystemError) {
            if isRegular && isReading { try measure() }
            while try move() > 0 {}
        } catch {
            state.withLock { $0.failure = error }
        }
        // The failure is known before the other end sees that the pipe has ended.
        if isReading || failure != nil { pipe.withLock { $0 = nil } }
        closeFile()
        pipe.withLock { $0 = nil }
        end.send()
    }

    private func measure() throws(SystemError) {
        var status = stat()
        let number = number
        _ = try retrying("fstat") { unsafe fstat(number, &status) }
        let left = Int64(status.st_size).subtractingReportingOverflow(Int64(lseek(number, 0, SEEK_CUR)))
        state.withLock { $0.byteCount = left.overflow ? nil : max(0, left.partialValue) }
    }

    /// - Returns: The number of bytes; 0 at the end, or when the transfer was cancelled.
    private func move() throws(SystemError) -> Int {
        let (from, to) = isReading ? (number, pipeNumber) : (pipeNumber, number)
        var count = Limits.peerPipeBytes
        if !isRegular {
            // Before a write, the pipe may be empty for long.
            let events = isReading ? POLLIN : POLLOUT
            let isReady = coffer_wait_ready(number, Int16(events), cancellation.descriptor)
            if isReady < 0 { throw SystemError("poll") }
            if isReady == 0 { return 0 }
            count = Int(PIPE_BUF)
        }
        return try moveBytes(from: from, to: to, upTo: count)
    }

    private func closeFile() {
        guard let file = file.withLock({ $0.take() }) else { return }
        // Here, and not by the value's end, which would take another thread.
        if let failure = file.closeHere() { state.withLock { $0.failure = $0.failure ?? failure } }
    }
}
