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

    fileprivate var descriptor: Int32 { event.descriptor.number }
}

/// A client's descriptor, which content is read from or written to.
///
/// It shares the open file with the client, so its flags are not changed: it waits with `poll`, and writes no more than
/// can't block.
package final class PeerStream: Sendable {
    private enum Kind { case regular, pipe, socket }

    private let descriptor: OwnedDescriptor
    private let kind: Kind
    private let cancellation: Cancellation
    /// The number of bytes to the end, if it is known.
    package var remainingByteCount: Int64? {
        guard kind == .regular, let status = try? descriptor.status() else { return nil }
        return max(0, Int64(status.st_size) - Int64(lseek(descriptor.number, 0, SEEK_CUR)))
    }

    /// Checks a client's descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: A regular file, a pipe or a stream socket.
    ///   - access: `O_RDONLY` or `O_WRONLY`: the access that it must be open for.
    ///   - cancellation: Ends the waiting.
    /// - Throws: `param` for any other descriptor.
    package init(
        _ descriptor: consuming OwnedDescriptor,
        for access: Int32,
        cancellation: Cancellation
    ) throws(CofferError) {
        let number = descriptor.number
        let flags = fcntl(number, F_GETFL)
        guard flags >= 0, flags & coffer_o_path == 0, [access, O_RDWR].contains(flags & O_ACCMODE) else {
            let wanted = access == O_RDONLY ? "reading" : "writing"
            throw CofferError(.param, "the descriptor passed is not open for \(wanted)")
        }
        let status: stat
        do { status = try descriptor.status() } catch { throw error.cofferError("can't use the descriptor passed") }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            kind = .regular
        case S_IFIFO, S_IFCHR:
            kind = .pipe
        case S_IFSOCK where Self.isStream(number):
            kind = .socket
        default:
            throw CofferError(.param, "the descriptor passed is neither a file nor a pipe nor a stream socket")
        }
        self.descriptor = descriptor
        self.cancellation = cancellation
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
            let count = try whenReady(POLLIN) { () throws(SystemError) in unsafe try descriptor.read(into: rest) }
            if count == 0 { break }
            done += count ?? 0
        }
        return done
    }

    /// Writes all bytes.
    package func write(all bytes: RawSpan) throws(TransferError) {
        var done = 0
        while done < bytes.byteCount {
            let rest = bytes.extracting(droppingFirst: done)
            done += try whenReady(POLLOUT) { () throws(SystemError) in try writeSome(rest) } ?? 0
        }
    }

    private func writeSome(_ bytes: RawSpan) throws(SystemError) -> Int {
        let number = descriptor.number
        return try retrying("write") {
            unsafe bytes.withUnsafeBytes { buffer in
                let (start, count) = (buffer.baseAddress, buffer.count)
                return switch kind {
                case .regular: unsafe Glibc.write(number, start, count)
                // poll guarantees space for one page of a pipe, and no more.
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
        if kind != .regular {
            switch coffer_wait_ready(descriptor.number, Int16(events), cancellation.descriptor) {
            case 1: break
            case 0: throw .cancelled
            default: throw .system(SystemError("poll"))
            }
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
