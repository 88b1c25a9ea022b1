internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// A running service manager, which `systemctl` controls.
package enum ServiceManager: String {
    /// The machine's.
    case system
    /// The user's own.
    case user

    /// The directory with the sockets of the user's own programs; `nil` for root, and for a user without a session.
    package static var ownDirectory: String? { RuntimeDirectory.own(environment) }

    /// Whether the user has a service manager.
    package static var isUsersRunning: Bool {
        ownDirectory.map { unsafe access("\($0)/systemd/private", F_OK) == 0 } ?? false
    }

    /// Runs a verb of `systemctl`.
    ///
    /// - Parameters:
    ///   - verb: The verb.
    ///   - words: What follows it, such as a unit.
    /// - Returns: Whether it has succeeded.
    package func control(_ verb: String, _ words: String...) -> Bool {
        do {
            let nothing = try OwnedDescriptor("open") { unsafe open("/dev/null", O_RDWR | O_CLOEXEC) }
            // Outside of a session, as in cron, nothing else says where the user's manager is.
            let place = self == .user ? Self.ownDirectory.map { ["XDG_RUNTIME_DIR=\($0)"] } : nil
            let process = try ChildProcess(
                "env",
                (place ?? []) + ["systemctl", "--\(rawValue)", "--quiet", verb] + words,
                input: nothing.number,
                output: nothing.number,
                errors: nothing.number
            )
            return try process.wait()
        } catch {
            // Without systemctl, there is no service manager to ask.
            return false
        }
    }
}
