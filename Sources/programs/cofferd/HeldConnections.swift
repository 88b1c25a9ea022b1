import CSystemd
import CofferCore
import CofferService
import CofferSystem
import Glibc

/// Stores the connections of service managers that wait for a credential, in the service manager's descriptor store.
///
/// There they outlive a daemon that is killed. The next daemon refuses them, because it does not know how much of an
/// answer was sent.
enum HeldConnections {
    private static let worker = WorkerPool(limit: 1)

    /// Their name in the store.
    static let name = "coffer-credential"

    /// Stores a connection; `nil` if there is no service manager.
    ///
    /// The service manager removes a connection that has ended.
    static var hold: (@Sendable (borrowing OwnedDescriptor) throws(SystemError) -> Void)? {
        if unsafe getenv("NOTIFY_SOCKET") == nil { return nil }
        return { (socket) throws(SystemError) in
            var number = socket.number
            let code = unsafe sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)", &number, 1)
            if code < 0 { throw SystemError("sd_notify", code: -code) }
        }
    }

    /// Refuses the stored connections, on another thread, which may have to wait for a slow peer.
    static func refuse(_ passed: PassedDescriptors) {
        let numbers = passed.credentials
        if numbers.isEmpty { return }
        Daemon.write(
            "warning: the last cofferd has left \(numbers.count) credentials unanswered: they are refused\n",
            to: STDERR_FILENO
        )
        worker.start {
            for number in numbers { CredentialRefusal.send(to: OwnedDescriptor(owning: number)) }
        }
    }
}
