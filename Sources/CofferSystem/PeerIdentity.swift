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
