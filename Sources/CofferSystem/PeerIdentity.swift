package import CCofferShims
internal import Glibc

/// Who is at the other end of a connection, as the kernel saw it connect.
///
/// Never what the peer says of itself.
package struct PeerIdentity: Hashable, Sendable {
    /// The process; may be reused by another one later, so nothing is decided by it alone.
    package let processID: pid_t
    /// The effective user.
    package let userID: uid_t
    /// The effective group.
    package let groupID: gid_t

    /// Asks the kernel.
    ///
    /// - Parameter socket: A connected socket.
    package init(of socket: borrowing OwnedDescriptor) throws(SystemError) {
        var process: pid_t = 0
        var user: uid_t = 0
        var group: gid_t = 0
        let number = socket.number
        _ = try retrying("getsockopt") { unsafe coffer_peer_credentials(number, &process, &user, &group) }
        processID = process
        userID = user
        groupID = group
    }

    /// Whether a descriptor is a socket whose peer is this very process.
    ///
    /// - Parameter descriptor: Any descriptor.
    package static func isOwnConnection(_ descriptor: borrowing OwnedDescriptor) -> Bool {
        (try? PeerIdentity(of: descriptor))?.processID == getpid()
    }
}

/// The process that connected, whose number is nobody else's while this is held.
package struct PeerProcess: ~Copyable {
    private let descriptor: OwnedDescriptor

    /// Takes hold of it; `nil` where it is gone.
    ///
    /// Kernels before 6.5 can't tell which process connected, only which one has its number now.
    ///
    /// - Parameters:
    ///   - socket: A connected socket.
    ///   - peer: Who connected.
    package init?(of socket: borrowing OwnedDescriptor, _ peer: PeerIdentity) throws(SystemError) {
        let number = socket.number
        var process = coffer_peer_process(number)
        if process < 0 && errno == ENOPROTOOPT { process = coffer_process_open(peer.processID) }
        // Kernels before 6.16 have no descriptor for one that was waited for.
        if process < 0 && (errno == ESRCH || errno == EINVAL) { return nil }
        descriptor = OwnedDescriptor(owning: try SystemError.check("getsockopt", process))
    }

    /// Whether it has not ended: then what was read of the process of its number was of this one.
    package var isRunning: Bool {
        get throws(SystemError) {
            let number = descriptor.number
            return try retrying("poll") { coffer_process_is_running(number) } == 1
        }
    }
}
