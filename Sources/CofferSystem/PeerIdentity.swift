package import CCofferShims
internal import Glibc

/// A process with its user and its group, as the kernel tells of one that connects or sends.
package struct ProcessCredentials: Hashable, Sendable {
    /// The process; 0 where its number can't be seen from here.
    package let processID: pid_t
    /// The user.
    package let userID: uid_t
    /// The group.
    package let groupID: gid_t

    /// Takes what the kernel tells of a sender; `nil` where it tells nothing.
    init?(_ sender: coffer_sender) {
        guard sender.is_known != 0 else { return nil }
        self.init(processID: sender.pid, userID: sender.uid, groupID: sender.gid)
        // It has not looked: what was sent before it was told to.
        if self == Self.unknown { return nil }
    }

    init(processID: pid_t, userID: uid_t, groupID: gid_t) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
    }

    /// Asks the kernel who has connected: with the effective user and group.
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

    /// What the kernel says where it says nothing: no process, and the user and the group that stand for unknown ones.
    private static let unknown = ProcessCredentials(processID: 0, userID: 65534, groupID: 65534)
}

/// Who is at the other end of a connection, as the kernel saw it connect.
///
/// Never what the peer says of itself.
package struct PeerIdentity: Hashable, Sendable {
    /// The process, which may be reused by another one later, and its effective user and group.
    package let credentials: ProcessCredentials
    /// The supplementary groups.
    package let supplementaryGroupIDs: Set<gid_t>

    /// Asks the kernel.
    ///
    /// - Parameter socket: A connected socket.
    package init(of socket: borrowing OwnedDescriptor) throws(SystemError) {
        credentials = try ProcessCredentials(of: socket)
        supplementaryGroupIDs = try Self.supplementaryGroups(of: socket)
    }

    init(_ credentials: ProcessCredentials, supplementaryGroupIDs: Set<gid_t>) {
        self.credentials = credentials
        self.supplementaryGroupIDs = supplementaryGroupIDs
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

    /// As many as the kernel has of a process (`NGROUPS_MAX`).
    private static let mostGroups = 65536

    /// Whether a descriptor is a socket whose peer is this very process.
    ///
    /// - Parameter descriptor: Any descriptor.
    package static func isOwnConnection(_ descriptor: borrowing OwnedDescriptor) -> Bool {
        (try? ProcessCredentials(of: descriptor))?.processID == getpid()
    }
}
