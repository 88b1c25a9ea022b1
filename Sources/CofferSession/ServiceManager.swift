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

    /// Whether the user has a service manager.
    package static var isUsersRunning: Bool {
        environment("XDG_RUNTIME_DIR").map { unsafe access("\($0)/systemd/private", F_OK) == 0 } ?? false
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
            let process = try ChildProcess(
                "systemctl",
                ["--\(rawValue)", "--quiet", verb] + words,
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
