import CSystemd
import CofferCore
import CofferService
import CofferSystem
import Glibc

/// The connections of service managers that wait for a credential, in the service manager's descriptor store.
///
/// There they outlive a daemon that is killed. The next one refuses them: how much the former has answered is not known.
enum HeldConnections {
    private static let worker = WorkerPool(limit: 1)

    /// The name of each in the store.
    static let name = "coffer-credential"

    /// Holds connections; `nil` where there is no service manager.
    ///
    /// A connection that has ended leaves the store by itself.
    static var hold: (@Sendable (borrowing OwnedDescriptor) throws(SystemError) -> Void)? {
        if unsafe getenv("NOTIFY_SOCKET") == nil { return nil }
        return { (socket) throws(SystemError) in
            var number = socket.number
            let code = unsafe sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)", &number, 1)
            if code < 0 { throw SystemError("sd_notify", code: -code) }
        }
    }

    /// Refuses the connections that were found there, on another thread: one that does not read is waited for.
    ///
    /// - Parameter passed: What of the store was passed.
    static func refuse(_ passed: PassedDescriptors) {
        let numbers = passed.credentials
        if numbers.isEmpty { return }
        Daemon.write(
            "warning: the last cofferd has left \(numbers.count) credentials unanswered: they are refused\n",
            to: STDERR_FILENO
        )
        worker.start {
            for number in numbers { LeftCredential.refuse(OwnedDescriptor(owning: number)) }
        }
    }
}
