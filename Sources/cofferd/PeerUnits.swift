import CSystemd
import CofferCore
import CofferSystem
import Glibc

/// The units that clients belong to, as the service manager names them.
enum PeerUnits {
    /// Tells who a client is.
    ///
    /// - Parameters:
    ///   - peer: Who it is, as the kernel tells.
    ///   - process: Its process: that of the number must be this one still when this is done.
    static func identify(_ peer: PeerIdentity, _ process: borrowing HeldProcess) throws(SystemError) -> ClientIdentity {
        var client = try ClientIdentity(peer, process)
        // Of what can't be seen from here nothing is known; the number 0 stands for ourselves.
        guard let number = client.processID else { return client }
        client.unit = unsafe try name { unsafe sd_pid_get_unit(number, $0) }
        client.loginUserID = try loginUser(of: number)
        // A program of another user in the owner's units, such as sudo's, is not the owner's; and the units of another one's
        // service manager have the names that he likes.
        if client.userID == geteuid() && client.loginUserID == geteuid() {
            client.userUnit = unsafe try name { unsafe sd_pid_get_user_unit(number, $0) }
        }
        // For people only: where it can't be told, nothing else depends on it.
        if client.isContained { client.machine = try? unsafe name { unsafe sd_pid_get_machine_name(number, $0) } }
        return client
    }

    /// Tells who the daemon itself is.
    static func identifyDaemon() throws(SystemError) -> ClientIdentity {
        let owner = try loginUser(of: 0)
        var identity = ClientIdentity(
            userID: geteuid(),
            groupID: getegid(),
            unit: unsafe try name { unsafe sd_pid_get_unit(0, $0) },
            userUnit: owner == geteuid() ? unsafe try name { unsafe sd_pid_get_user_unit(0, $0) } : nil
        )
        identity.loginUserID = owner
        return identity
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
            throw SystemError("sd_pid_get_unit", code: -code)
        }
        return unsafe found.map { unsafe String(cString: $0) }
    }

    /// The user whose login, or whose service manager, a process belongs to.
    private static func loginUser(of process: pid_t) throws(SystemError) -> uid_t? {
        var owner: uid_t = 0
        let code = unsafe sd_pid_get_owner_uid(process, &owner)
        if code >= 0 { return owner }
        if none.contains(-code) { return nil }
        throw SystemError("sd_pid_get_owner_uid", code: -code)
    }
}
