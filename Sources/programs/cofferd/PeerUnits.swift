import CSystemd
import CofferCore
import CofferSystem
import Glibc

/// The units that clients belong to, as systemd reports them.
enum PeerUnits {
    /// Identifies a client.
    ///
    /// - Parameters:
    ///   - peer: Its credentials, from the kernel.
    ///   - process: Its process; the caller must check afterwards that it is still running.
    static func identify(_ peer: PeerIdentity, _ process: borrowing HeldProcess) throws(SystemError) -> ClientIdentity {
        var client = try ClientIdentity(peer, process)
        // The number 0 would stand for the daemon itself.
        guard let number = client.processID else { return client }
        client.unit = unsafe try name { unsafe sd_pid_get_unit(number, $0) }
        client.loginUserID = try loginUser(of: number)
        // A program of another user in the owner's units, such as under sudo, is not the owner's. Another user's
        // service manager can give its units any name.
        if client.userID == geteuid() && client.loginUserID == geteuid() {
            client.userUnit = unsafe try name { unsafe sd_pid_get_user_unit(number, $0) }
        }
        // Only shown to users, so a failure is ignored.
        if client.isContained { client.machine = try? unsafe name { unsafe sd_pid_get_machine_name(number, $0) } }
        return client
    }

    /// Identifies the daemon itself.
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

    /// The errors for a process without a unit, or a machine without systemd.
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

    /// The user of the login session or the service manager that a process belongs to.
    private static func loginUser(of process: pid_t) throws(SystemError) -> uid_t? {
        var owner: uid_t = 0
        let code = unsafe sd_pid_get_owner_uid(process, &owner)
        if code >= 0 { return owner }
        if none.contains(-code) { return nil }
        throw SystemError("sd_pid_get_owner_uid", code: -code)
    }
}
