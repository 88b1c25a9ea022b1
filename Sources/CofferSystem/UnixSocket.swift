internal import CCofferShims
internal import Glibc

/// Stream sockets of the Unix domain.
package enum UnixSocket {
    /// The bytes of a socket's path that the kernel takes, without the closing NUL.
    package static let pathBytes = 107

    /// Connects.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - isBlocking: Whether the socket blocks, now and later. One that does not is not connected, with `EAGAIN`, while too
    ///     many wait to be accepted.
    package static func connect(to path: String, isBlocking: Bool = true) throws(SystemError) -> OwnedDescriptor {
        let socket = try make()
        if !isBlocking { try setNonBlocking(socket) }
        _ = unsafe try withAddress(path) { address, size in unsafe Glibc.connect(socket.number, address, size) }
        return socket
    }

    /// Listens at a path, for the owner only.
    ///
    /// A socket that nobody listens at any more is replaced.
    ///
    /// - Parameter path: The path of the socket.
    /// - Throws: `EADDRINUSE` where somebody listens there already.
    package static func listen(at path: String) throws(SystemError) -> OwnedDescriptor {
        if (try? connect(to: path)) != nil { throw SystemError("bind", code: EADDRINUSE) }
        try checkLength(of: path)
        try removeStale(path)
        let socket = try make()
        // Before it has a path, so that it never has another mode there. The mask of the process is not ours to change: other
        // threads make files.
        _ = try retrying("fchmod") { fchmod(socket.number, 0o600) }
        _ = unsafe try withAddress(path) { address, size in unsafe bind(socket.number, address, size) }
        _ = try retrying("listen") { Glibc.listen(socket.number, SOMAXCONN) }
        try setNonBlocking(socket)
        return socket
    }

    /// Removes a socket that nobody listens at; anything else in its place stays.
    private static func removeStale(_ path: String) throws(SystemError) {
        var status = stat()
        if unsafe lstat(path, &status) != 0 {
            if errno == ENOENT { return }
            throw SystemError("lstat")
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw SystemError("bind", code: EEXIST) }
        if unsafe unlink(path) != 0 { throw SystemError("unlink") }
    }

    /// Two sockets that are each other's peer; the first is non-blocking.
    package static func pair() throws(SystemError) -> Pair {
        var numbers: [Int32] = [-1, -1]
        _ = try retrying("socketpair") {
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &numbers)
        }
        let pair = Pair(server: OwnedDescriptor(owning: numbers[0]), client: OwnedDescriptor(owning: numbers[1]))
        try setNonBlocking(pair.server)
        return pair
    }

    /// Two sockets that are each other's peer.
    package struct Pair: ~Copyable {
        /// The non-blocking end.
        package let server: OwnedDescriptor
        /// The blocking end.
        package let client: OwnedDescriptor

        /// Takes the pair apart.
        ///
        /// - Parameter body: Gets both ends to own.
        package consuming func split<Result, Failure: Error>(
            _ body: (consuming OwnedDescriptor, consuming OwnedDescriptor) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try body(server, client)
        }
    }

    /// Makes a descriptor non-blocking: on an open file that nobody else shares.
    ///
    /// - Parameter descriptor: The descriptor.
    package static func setNonBlocking(_ descriptor: borrowing OwnedDescriptor) throws(SystemError) {
        let number = descriptor.number
        let flags = try retrying("fcntl") { fcntl(number, F_GETFL) }
        _ = try retrying("fcntl") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    }

    /// Has what arrives on a socket tell who has sent it, as ``Received/sender``.
    ///
    /// - Parameter socket: A connection, or a listening socket: then it is so of those that it accepts.
    package static func tellSenders(on socket: borrowing OwnedDescriptor) throws(SystemError) {
        let number = socket.number
        _ = try retrying("setsockopt") { coffer_pass_credentials(number) }
    }

    /// Accepts a connection.
    ///
    /// - Parameter listener: A listening, non-blocking socket.
    /// - Returns: The connection, non-blocking, or `nil` where none is waiting.
    package static func accept(from listener: borrowing OwnedDescriptor) throws(SystemError) -> OwnedDescriptor? {
        let number = listener.number
        do {
            return OwnedDescriptor(owning: try retrying("accept") { coffer_accept(number) })
        } catch  where error.code == EAGAIN || error.code == ECONNABORTED {
            return nil
        }
    }

    /// The address that the peer of a connection has, as the kernel knows it.
    ///
    /// - Parameter socket: A connected socket.
    /// - Returns: A path, or an abstract address behind a NUL; nothing for a peer without one.
    package static func peerAddress(of socket: borrowing OwnedDescriptor) throws(SystemError) -> [UInt8] {
        let number = socket.number
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        _ = try retrying("getpeername") {
            unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe getpeername(number, generic, &size)
                }
            }
        }
        let count = max(0, Int(size) - MemoryLayout<sa_family_t>.size)
        return unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0.prefix(count)) }
    }

    private static func make() throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            owning: try retrying("socket") {
                Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            }
        )
    }

    private static func checkLength(of path: String) throws(SystemError) {
        guard !path.isEmpty, path.utf8.count <= pathBytes, !path.utf8.contains(0) else {
            throw SystemError("socket path", code: ENAMETOOLONG)
        }
    }

    private static func withAddress(
        _ path: String,
        _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SystemError) -> Int32 {
        try checkLength(of: path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        return try retrying("connect") {
            unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe call(generic, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
}

/// What one receive brought.
package struct Received: ~Copyable {
    /// The bytes that were put into the buffer; 0 when the peer has closed.
    package let count: Int
    /// A descriptor that came along.
    package var descriptor: OwnedDescriptor?
    /// More descriptors came than a frame may carry.
    ///
    /// They are closed.
    package let hasTooManyDescriptors: Bool
    /// Who has sent it: the kernel joins nothing that two have sent.
    ///
    /// With the real user and group. `nil` where it was sent before ``UnixSocket/tellSenders(on:)``.
    package let sender: ProcessCredentials?
}

extension OwnedDescriptor {
    /// Waits for room to send.
    ///
    /// - Parameter milliseconds: For how long at most.
    /// - Returns: Whether there is room, or the peer is gone.
    package borrowing func waitForRoom(milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return (try? retrying("poll") { unsafe poll(&wanted, 1, milliseconds) }) == 1
    }

    /// Ends a connection, whoever else has a descriptor of it.
    package borrowing func shutDown() { _ = shutdown(number, Int32(SHUT_RDWR)) }

    /// Whether the peer of a stream socket has closed it.
    package var hasHungUp: Bool {
        var wanted = pollfd(fd: number, events: 0, revents: 0)
        guard (try? retrying("poll") { unsafe poll(&wanted, 1, 0) }) == 1 else { return false }
        return wanted.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// Receives bytes and a descriptor from a stream socket.
    ///
    /// - Parameter buffer: Where to.
    /// - Returns: What came; `nil` where nothing is waiting on a non-blocking socket.
    package borrowing func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Received? {
        var passed: Int32 = -1
        var passedCount: Int32 = 0
        var isTruncated: Int32 = 0
        var sender = coffer_sender()
        do {
            let count = try retrying("recvmsg") {
                unsafe coffer_receive(
                    number,
                    buffer.baseAddress,
                    buffer.count,
                    &passed,
                    1,
                    &passedCount,
                    &isTruncated,
                    &sender
                )
            }
            return Received(
                count: count,
                descriptor: passedCount == 1 ? OwnedDescriptor(owning: passed) : nil,
                hasTooManyDescriptors: isTruncated != 0,
                sender: ProcessCredentials(sender)
            )
        } catch  where error.code == EAGAIN {
            return nil
        }
    }

    /// Sends once.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - more: The bytes behind them. At least one byte in both.
    ///   - descriptor: The number of a descriptor to pass with the first of them, which stays the caller's.
    /// - Returns: The bytes sent; `nil` where there is no room on a non-blocking socket.
    package borrowing func send(
        _ bytes: RawSpan,
        _ more: RawSpan = RawSpan(),
        passing descriptor: Int32? = nil
    ) throws(SystemError) -> Int? {
        do {
            return try retrying("sendmsg") {
                unsafe bytes.withUnsafeBytes { first in
                    unsafe more.withUnsafeBytes { second in
                        unsafe coffer_send(
                            number,
                            first.baseAddress,
                            first.count,
                            second.baseAddress,
                            second.count,
                            descriptor ?? -1
                        )
                    }
                }
            }
        } catch  where error.code == EAGAIN {
            return nil
        }
    }
}
