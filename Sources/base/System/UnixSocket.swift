internal import CCofferShims
internal import Glibc

/// Stream sockets of the Unix domain.
package enum UnixSocket {
    /// The maximum size of a socket's path, without the closing NUL.
    package static let pathBytes = 107

    /// Connects.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - isBlocking: Whether the socket blocks, now and later. A non-blocking one fails with `EAGAIN` while the
    ///     backlog of the listening socket is full.
    package static func connect(to path: String, isBlocking: Bool = true) throws(SystemError) -> OwnedDescriptor {
        let socket = try make(isBlocking: isBlocking)
        _ = unsafe try withAddress(path) { address, size in unsafe Glibc.connect(socket.number, address, size) }
        return socket
    }

    /// Listens at a path, for the owner only, and replaces a stale socket.
    ///
    /// - Parameter path: The path of the socket.
    /// - Throws: `EADDRINUSE` if another process listens there.
    package static func listen(at path: String) throws(SystemError) -> OwnedDescriptor {
        if (try? connect(to: path)) != nil { throw SystemError("bind", code: EADDRINUSE) }
        try checkLength(of: path)
        try removeStale(path)
        let socket = try make(isBlocking: false)
        // Set before the socket has a path, so that it never has another mode there. Changing the umask instead would
        // affect other threads that create files.
        _ = try retrying("fchmod") { fchmod(socket.number, 0o600) }
        _ = unsafe try withAddress(path) { address, size in unsafe bind(socket.number, address, size) }
        _ = try retrying("listen") { Glibc.listen(socket.number, SOMAXCONN) }
        return socket
    }

    /// Removes a stale socket; any other file in its place stays.
    private static func removeStale(_ path: String) throws(SystemError) {
        var status = stat()
        if unsafe lstat(path, &status) != 0 {
            if errno == ENOENT { return }
            throw SystemError("lstat")
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw SystemError("bind", code: EEXIST) }
        if unsafe unlink(path) != 0 { throw SystemError("unlink") }
    }

    /// Two connected sockets; the first is non-blocking.
    package static func pair() throws(SystemError) -> Pair {
        var numbers: [Int32] = [-1, -1]
        _ = try retrying("socketpair") {
            unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &numbers)
        }
        let pair = Pair(server: OwnedDescriptor(owning: numbers[0]), client: OwnedDescriptor(owning: numbers[1]))
        try setNonBlocking(pair.server)
        return pair
    }

    /// Two connected sockets.
    package struct Pair: ~Copyable {
        /// The non-blocking end.
        package let server: OwnedDescriptor
        /// The blocking end.
        package let client: OwnedDescriptor

        /// Takes the pair apart.
        ///
        /// - Parameter body: Takes ownership of both ends.
        package consuming func split<Result, Failure: Error>(
            _ body: (consuming OwnedDescriptor, consuming OwnedDescriptor) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try body(server, client)
        }
    }

    /// Makes a descriptor non-blocking; no other process may share its open file.
    package static func setNonBlocking(_ descriptor: borrowing OwnedDescriptor) throws(SystemError) {
        let number = descriptor.number
        let flags = try retrying("fcntl") { fcntl(number, F_GETFL) }
        _ = try retrying("fcntl") { fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    }

    /// Has the kernel record the sender of each message, as ``Received/sender``.
    ///
    /// - Parameter socket: A connection, or a listening socket, whose connections inherit the setting.
    package static func passCredentials(on socket: borrowing OwnedDescriptor) throws(SystemError) {
        let number = socket.number
        _ = try retrying("setsockopt") { coffer_pass_credentials(number) }
    }

    /// Accepts a connection.
    ///
    /// - Parameter listener: A non-blocking listening socket.
    /// - Returns: The connection, non-blocking; `nil` if none is pending.
    package static func accept(from listener: borrowing OwnedDescriptor) throws(SystemError) -> OwnedDescriptor? {
        let number = listener.number
        return try tolerating(EAGAIN, ECONNABORTED) { () throws(SystemError) in
            try OwnedDescriptor("accept") { coffer_accept(number) }
        }
    }

    /// The address of a connection's peer, as the kernel reports it.
    ///
    /// - Parameter socket: A connected socket.
    /// - Returns: A path, or an abstract address that begins with a NUL; empty for an unbound peer.
    package static func peerAddress(of socket: borrowing OwnedDescriptor) throws(SystemError) -> [UInt8] {
        let number = socket.number
        var address = sockaddr_un()
        var size = socklen_t(MemoryLayout<sockaddr_un>.size)
        _ = try retrying("getpeername") { unsafe address.withGeneric { unsafe getpeername(number, $0, &size) } }
        let count = max(0, Int(size) - MemoryLayout<sa_family_t>.size)
        return unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0.prefix(count)) }
    }

    private static func make(isBlocking: Bool) throws(SystemError) -> OwnedDescriptor {
        let options = SOCK_CLOEXEC.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue)
        return try OwnedDescriptor("socket") { Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | options), 0) }
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
            unsafe address.withGeneric { unsafe call($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}

extension sockaddr_un {
    /// Calls a function of sockets with the address, whose type it does not know.
    fileprivate mutating func withGeneric(_ call: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
        unsafe withUnsafeMutablePointer(to: &self) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, call)
        }
    }
}

/// The result of a receive.
package struct Received: ~Copyable {
    /// The number of bytes in the buffer; 0 if the peer has closed the connection.
    package let count: Int
    /// The descriptor that was passed with them.
    package var descriptor: PeerDescriptor?
    /// Whether more descriptors were passed than a frame may have.
    ///
    /// The others are dropped.
    package let hasTooManyDescriptors: Bool
    /// The sender of the bytes: the kernel never merges those of two senders.
    ///
    /// Its user and group are the real ones. `nil` for messages sent before ``UnixSocket/passCredentials(on:)``.
    package let sender: ProcessCredentials?

    /// Takes out the descriptor, as one of a peer that is trusted with this process's time.
    package mutating func takeTrustedDescriptor() -> OwnedDescriptor? {
        guard let descriptor = descriptor.take() else { return nil }
        return descriptor.trusted()
    }
}

extension OwnedDescriptor {
    /// Waits for space to send.
    ///
    /// - Parameter milliseconds: The timeout.
    /// - Returns: Whether there is space, or the peer has disconnected.
    package borrowing func waitForRoom(milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return (try? retrying("poll") { unsafe poll(&wanted, 1, milliseconds) }) == 1
    }

    /// Ends a connection for all processes that have a descriptor of it.
    package borrowing func shutDown() { _ = shutdown(number, Int32(SHUT_RDWR)) }

    /// Whether the peer of a stream socket has closed it.
    package var hasHungUp: Bool {
        var wanted = pollfd(fd: number, events: 0, revents: 0)
        guard (try? retrying("poll") { unsafe poll(&wanted, 1, 0) }) == 1 else { return false }
        return wanted.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// Receives bytes and a descriptor from a stream socket.
    ///
    /// - Parameters:
    ///   - buffer: The buffer.
    ///   - party: The party whose quota takes the descriptor.
    ///   - mayPass: Whether a descriptor is accepted.
    /// - Returns: The result; `nil` if nothing is pending on a non-blocking socket.
    package borrowing func receive(
        into buffer: UnsafeMutableRawBufferPointer,
        for party: Int = 0,
        acceptingDescriptor mayPass: Bool = true
    ) throws(SystemError) -> Received? {
        var passed: Int32 = -1
        var passedCount: Int32 = 0
        var isTruncated: Int32 = 0
        var sender = coffer_sender()
        let count = try tolerating(EAGAIN) { () throws(SystemError) in
            try retrying("recvmsg") {
                let (start, count) = (buffer.baseAddress, buffer.count)
                let capacity: Int32 = mayPass ? 1 : 0
                return unsafe coffer_receive(
                    number,
                    start,
                    count,
                    &passed,
                    capacity,
                    &passedCount,
                    &isTruncated,
                    &sender
                )
            }
        }
        guard let count else { return nil }
        return Received(
            count: count,
            descriptor: passedCount == 1 ? PeerDescriptor(owning: passed, for: party) : nil,
            hasTooManyDescriptors: isTruncated != 0,
            sender: ProcessCredentials(sender)
        )
    }

    /// Sends once.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - more: Further bytes. At least one of both must not be empty.
    ///   - descriptor: A descriptor to pass with the first byte, which stays the caller's.
    /// - Returns: The number of bytes sent; `nil` if a non-blocking socket has no space.
    package borrowing func send(
        _ bytes: RawSpan,
        _ more: RawSpan = RawSpan(),
        passing descriptor: Int32? = nil
    ) throws(SystemError) -> Int? {
        let passed = descriptor ?? -1
        return try tolerating(EAGAIN) { () throws(SystemError) in
            try retrying("sendmsg") {
                unsafe bytes.withUnsafeBytes { one in
                    unsafe more.withUnsafeBytes { two in
                        unsafe coffer_send(number, one.baseAddress, one.count, two.baseAddress, two.count, passed)
                    }
                }
            }
        }
    }
}
