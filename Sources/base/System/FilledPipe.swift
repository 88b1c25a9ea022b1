internal import CCofferShims
internal import Glibc

extension OwnedDescriptor {
    /// The reading end of a pipe that holds bytes, and nothing behind them.
    ///
    /// The bytes are in memory of the kernel, which it does not write to the disk.
    ///
    /// - Parameter bytes: The bytes; the pipe has to hold them all.
    package static func pipe(holding bytes: RawSpan) throws(SystemError) -> OwnedDescriptor {
        var ends: [Int32] = [-1, -1]
        _ = try retrying("pipe") { unsafe coffer_pipe(&ends, Int32(clamping: bytes.byteCount)) }
        let source = OwnedDescriptor(owning: ends[0])
        let sink = OwnedDescriptor(owning: ends[1])
        try UnixSocket.setNonBlocking(sink)
        // It is refused if the pipe is smaller than was asked for.
        try sink.write(all: bytes)
        return source
    }

    /// Writes a few bytes to a pipe or a socket that another program reads, and never waits for that program.
    ///
    /// - Throws: `EAGAIN` if it does not take them at once, `EINVAL` if it is something else.
    package borrowing func writeAtOnce(_ bytes: RawSpan) throws(SystemError) {
        let sent = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.send(number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
        if sent >= 0 || errno != ENOTSOCK {
            guard sent == bytes.byteCount else { throw SystemError("send", code: sent < 0 ? errno : EAGAIN) }
            return
        }
        // Whether a write waits is said of the open file, which is the owner's as well; to move bytes from another pipe says it
        // itself.
        let filled = try OwnedDescriptor.pipe(holding: bytes)
        let moved = coffer_move_to_pipe(filled.number, number, bytes.byteCount)
        guard moved == bytes.byteCount else { throw SystemError("splice", code: moved < 0 ? errno : EAGAIN) }
    }
}
