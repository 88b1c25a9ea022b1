internal import CCofferShims
package import CofferCore
internal import Glibc
internal import Synchronization

/// Cancels a transfer from another thread, also while it waits for a slow peer.
package final class Cancellation: Sendable {
    private let event: WakeSignal
    private let flag = Atomic(false)

    package init() throws(SystemError) { event = try WakeSignal() }

    /// Cancels, for good.
    package func cancel() {
        flag.store(true, ordering: .releasing)
        event.send()
    }

    package var isCancelled: Bool { flag.load(ordering: .acquiring) }

    var descriptor: Int32 { event.descriptor.number }
}

/// A client's descriptor, which content is read from or written to.
///
/// It shares the open file with the client, so its flags are not changed: it waits with `poll`, and writes no more than
/// can't block. A file is not touched on this thread: a ``PeerFilePump`` moves its bytes.
package final class PeerStream: Sendable {
    private enum Kind { case file, pipe, socket }

    private let peer: Mutex<PeerDescriptor?>
    /// This end of the pipe, for a file.
    private let own: Mutex<OwnedDescriptor?>
    private let number: Int32
    private let kind: Kind
    private let pump: PeerFilePump?
    private let readCount = Atomic<Int64>(0)
    private let cancellation: Cancellation

    /// Checks a client's descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: A regular file, a pipe, a device or a stream socket.
    ///   - access: `O_RDONLY` or `O_WRONLY`: the access that it must be open for.
    ///   - cancellation: Ends the waiting.
    /// - Throws: `param` for any other descriptor.
    package init(
        _ descriptor: consuming PeerDescriptor,
        for access: Int32,
        cancellation: Cancellation
    ) throws(CofferError) {
        let flags = fcntl(descriptor.number, F_GETFL)
        guard flags >= 0, flags & coffer_o_path == 0, [access, O_RDWR].contains(flags & O_ACCMODE) else {
            let wanted = access == O_RDONLY ? "reading" : "writing"
            throw CofferError(.param, "the descriptor passed is not open for \(wanted)")
        }
        self.cancellation = cancellation
        switch descriptor.type {
        case S_IFREG?, S_IFCHR?:
            let isRegular = descriptor.type == S_IFREG
            let started: (PeerFilePump, Int32)
            do throws(SystemError) {
                started = try PeerFilePump.start(
                    descriptor,
                    isReading: access == O_RDONLY,
                    isRegular: isRegular,
                    cancellation
                )
            } catch {
                throw error.cofferError("can't use the descriptor passed")
            }
            (kind, pump, number) = (.file, started.0, started.1)
            peer = Mutex(nil)
            own = Mutex(OwnedDescriptor(owning: started.1))
        case S_IFIFO?:
            (kind, pump, number) = (.pipe, nil, descriptor.number)
            peer = Mutex(descriptor)
            own = Mutex(nil)
        case S_IFSOCK? where Self.isStream(descriptor.number):
            (kind, pump, number) = (.socket, nil, descriptor.number)
            peer = Mutex(descriptor)
            own = Mutex(nil)
        default:
            throw CofferError(.param, "the descriptor passed is neither a file nor a pipe nor a stream socket")
        }
    }

    /// Waits until the size of a file is known.
    package func prepare() throws(TransferError) {
        if pump == nil { return }
        _ = try whenReady(POLLIN) { 0 }
    }

    /// The number of bytes to the end, if it is known.
    package var remainingByteCount: Int64? {
        pump?.byteCount.map { max(0, $0 - readCount.load(ordering: .relaxed)) }
    }

    /// Waits until the written bytes are in the client's file; further ones can't be written.
    package func finish() throws(TransferError) {
        guard let pump else { return }
        own.withLock { $0 = nil }
        try pump.wait()
    }

    private static func isStream(_ number: Int32) -> Bool {
        // A listening socket never has bytes.
        option(SO_TYPE, of: number) == Int32(SOCK_STREAM.rawValue) && option(SO_ACCEPTCONN, of: number) == 0
    }

    private static func option(_ name: Int32, of number: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return unsafe getsockopt(number, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }

    /// Reads until the buffer is full or the stream ends.
    ///
    /// - Returns: The number of bytes; less than the buffer's size only at the end.
    package func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try whenReady(POLLIN) { () throws(SystemError) in
                try retrying("read") { unsafe Glibc.read(number, rest.baseAddress, rest.count) }
            }
            if count == 0 { break }
            done += count ?? 0
        }
        readCount.add(Int64(done), ordering: .relaxed)
        if done < buffer.count, let failure = pump?.failure { throw .system(failure) }
        return done
    }

    /// Writes all bytes.
    package func write(all bytes: RawSpan) throws(TransferError) {
        var done = 0
        while done < bytes.byteCount {
            let rest = bytes.extracting(droppingFirst: done)
            do throws(TransferError) {
                done += try whenReady(POLLOUT) { () throws(SystemError) in try writeSome(rest) } ?? 0
            } catch {
                if case .system = error, let failure = pump?.failure { throw .system(failure) }
                throw error
            }
        }
    }

    private func writeSome(_ bytes: RawSpan) throws(SystemError) -> Int {
        try retrying("write") {
            unsafe bytes.withUnsafeBytes { buffer in
                let (start, count) = (buffer.baseAddress, buffer.count)
                return switch kind {
                // poll guarantees space for one page of a pipe, and no more; the pipe of a file does not block.
                case .file: unsafe Glibc.write(number, start, count)
                case .pipe: unsafe Glibc.write(number, start, min(count, Int(PIPE_BUF)))
                case .socket: unsafe Glibc.send(number, start, count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                }
            }
        }
    }

    /// Waits for events, then makes a call.
    ///
    /// - Returns: `nil` if the call would block all the same.
    private func whenReady(_ events: Int32, _ call: () throws(SystemError) -> Int) throws(TransferError) -> Int? {
        if cancellation.isCancelled { throw .cancelled }
        switch coffer_wait_ready(number, Int16(events), cancellation.descriptor) {
        case 1: break
        case 0: throw .cancelled
        default: throw .system(SystemError("poll"))
        }
        do throws(SystemError) { return try tolerating(EAGAIN, call: call) } catch { throw .system(error) }
    }
}

/// The reason why a transfer ended early.
package enum TransferError: Error, Sendable {
    /// It was cancelled.
    case cancelled
    /// The client's descriptor failed.
    case system(SystemError)

    /// The error for the client.
    package var cofferError: CofferError {
        switch self {
        case .cancelled: CofferError(.userCanceled, "the transfer was cancelled")
        // Not `diskFull`: the full disk is the client's, not the vault's.
        case .system(let error): CofferError(.io, "can't use the descriptor passed: \(error.reason)")
        }
    }
}
