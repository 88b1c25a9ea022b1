package import CCofferShims
internal import Glibc

/// The process, user and group of a peer, as the kernel reports them.
package struct ProcessCredentials: Hashable, Sendable {
    /// The process; 0 if it is not visible from this pid namespace.
    package let processID: pid_t
    /// The user.
    package let userID: uid_t
    /// The group.
    package let groupID: gid_t
}

extension ProcessCredentials {
    /// The credentials of a message's sender; `nil` if the kernel does not know them.
    init?(_ sender: coffer_sender) {
        guard sender.is_known != 0 else { return nil }
        self.init(processID: sender.pid, userID: sender.uid, groupID: sender.gid)
        // The message was sent before the kernel was told to record senders.
        if self == Self.unknown { return nil }
    }

    /// The credentials of the process that connected, with its effective user and group.
    ///
    /// - Parameter socket: A connected socket.
    fileprivate init(of socket: borrowing OwnedDescriptor) throws(SystemError) {
        var process: pid_t = 0
        var user: uid_t = 0
        var group: gid_t = 0
        let number = socket.number
        _ = try retrying("getsockopt") { unsafe coffer_peer_credentials(number, &process, &user, &group) }
        self.init(processID: process, userID: user, groupID: group)
    }

    /// The kernel's placeholder for unknown credentials: no process, and the overflow ids.
    private static let unknown = ProcessCredentials(processID: 0, userID: 65534, groupID: 65534)
}

/// The peer of a connection, as the kernel identified it at connect.
///
/// It contains nothing that the peer claims itself.
package struct PeerIdentity: Hashable, Sendable {
    /// The process, whose number may be reused later, and its effective user and group.
    package let credentials: ProcessCredentials
    /// The supplementary groups.
    package let supplementaryGroupIDs: Set<gid_t>
}

extension PeerIdentity {
    /// Reads the credentials of a peer from the kernel.
    ///
    /// - Parameter socket: A connected socket.
    package init(of socket: borrowing OwnedDescriptor) throws(SystemError) {
        self.init(
            credentials: try ProcessCredentials(of: socket),
            supplementaryGroupIDs: try Self.supplementaryGroups(of: socket)
        )
    }

    private static func supplementaryGroups(of socket: borrowing OwnedDescriptor) throws(SystemError) -> Set<gid_t> {
        let number = socket.number
        for capacity in [64, mostGroups] {
            var groups = [gid_t](repeating: 0, count: capacity)
            do {
                let count = try retrying("getsockopt") {
                    unsafe coffer_peer_groups(number, &groups, Int32(capacity))
                }
                return Set(groups.prefix(Int(count)))
            } catch  where error.code == ERANGE {
                continue
            }
        }
        throw SystemError("getsockopt", code: ERANGE)
    }

    /// The kernel's maximum for a process (`NGROUPS_MAX`).
    private static let mostGroups = 65536

    /// Whether a descriptor is a socket whose peer is this process.
    ///
    /// - Parameter descriptor: Any descriptor.
    package static func isOwnConnection(_ descriptor: borrowing OwnedDescriptor) -> Bool {
        (try? ProcessCredentials(of: descriptor))?.processID == getpid()
    }
}
