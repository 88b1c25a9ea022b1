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

    /// Writes a few bytes to a descriptor of somebody else, for whom nothing waits.
    ///
    /// - Throws: `EAGAIN` if it does not take them at once.
    package borrowing func writeAtOnce(_ bytes: RawSpan) throws(SystemError) {
        var waiting = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&waiting, 1, 0) == 1, waiting.revents & Int16(POLLOUT) != 0 else {
            throw SystemError("write", code: EAGAIN)
        }
        try write(all: bytes)
    }
}
