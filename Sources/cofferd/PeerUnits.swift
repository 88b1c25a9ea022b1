import CSystemd
import CofferCore
import CofferSystem
import Glibc

/// The units that clients belong to, as the service manager names them.
enum PeerUnits {
    /// Tells who is at the other end of a connection.
    ///
    /// - Parameters:
    ///   - socket: The connection.
    ///   - peer: Who connected, as the kernel tells.
    static func identify(
        _ socket: borrowing OwnedDescriptor,
        _ peer: PeerIdentity
    ) throws(SystemError) -> ClientIdentity {
        let number = socket.number
        // A program of another user in the owner's units, such as sudo's, is not the owner's.
        let isOwn =
            peer.userID == geteuid() ? unsafe try isOwners { unsafe sd_peer_get_owner_uid(number, $0) } : false
        return ClientIdentity(
            userID: peer.userID,
            groupID: peer.groupID,
            unit: unsafe try name { unsafe sd_peer_get_unit(number, $0) },
            userUnit: isOwn ? unsafe try name { unsafe sd_peer_get_user_unit(number, $0) } : nil,
            executablePath: executablePath(of: peer.processID)
        )
    }

    /// Tells who the daemon itself is.
    static func identifyDaemon() throws(SystemError) -> ClientIdentity {
        ClientIdentity(
            userID: geteuid(),
            groupID: getegid(),
            unit: unsafe try name { unsafe sd_pid_get_unit(0, $0) },
            userUnit: unsafe try isOwners { unsafe sd_pid_get_owner_uid(0, $0) }
                ? unsafe try name { unsafe sd_pid_get_user_unit(0, $0) } : nil
        )
    }

    /// What is asked of a process that has none, or of a machine without systemd.
    private static let none: Set<Int32> = [ENODATA, ENXIO, ENOMEDIUM, EOPNOTSUPP]

    private static func name(
        _ ask: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) throws(SystemError) -> String? {
        var found: UnsafeMutablePointer<CChar>?
        defer { unsafe free(found) }
        let code = unsafe ask(&found)
        if code < 0 {
            if none.contains(-code) { return nil }
            throw SystemError("sd_peer_get_unit", code: -code)
        }
        return unsafe found.map { unsafe String(cString: $0) }
    }

    /// Whether a user's service manager is that of the daemon's user: another one's units have the names that it likes.
    private static func isOwners(_ ask: (UnsafeMutablePointer<uid_t>) -> Int32) throws(SystemError) -> Bool {
        var owner: uid_t = 0
        let code = unsafe ask(&owner)
        if code >= 0 { return owner == geteuid() }
        if none.contains(-code) { return false }
        throw SystemError("sd_peer_get_owner_uid", code: -code)
    }

    /// The program of a process, where its path leads to it for us, too.
    ///
    /// A program that was replaced or removed has no path any more, and one in another root has ours by its own word only.
    private static func executablePath(of process: pid_t) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let link = "/proc/\(process)/exe"
        let count = unsafe readlink(link, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var (program, named) = (stat(), stat())
        guard unsafe stat(link, &program) == 0, unsafe lstat(path, &named) == 0, program.st_dev == named.st_dev,
            program.st_ino == named.st_ino
        else { return nil }
        return path
    }
}
