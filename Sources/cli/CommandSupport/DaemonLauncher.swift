internal import CofferClient
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// Starts `cofferd` for a user without a service manager, and its socket for one who has one.
enum DaemonLauncher {
    /// Starts the daemon on the user's socket and waits until it answers, at most five seconds.
    static func startAndConnect(
        to socketPath: String,
        timeout: Duration?
    ) throws(CofferError) -> BlockingClient {
        Output.standardError.line("coffer: starting cofferd, which keeps running; --no-start prevents that")
        let daemon: DetachedProcess
        do {
            daemon = try DetachedProcess(path: InstalledProgram.path(of: "cofferd"), arguments: ["cofferd"])
        } catch {
            throw CofferError(
                .notAvailable,
                "can't start cofferd: \(error.reason)",
                hint: "is it installed beside coffer, or in $PATH?"
            )
        }
        for _ in 0..<Limits.startAttempts {
            if let client = try? BlockingClient(socketPath: socketPath, timeout: timeout) { return client }
            if daemon.hasEnded { break }
            usleep(Limits.startPauseMicroseconds)
        }
        throw CofferError(.notAvailable, "cofferd did not come up", hint: "run 'cofferd' by hand to see why")
    }

    /// Has the user's service manager start the socket, if that is enabled there.
    ///
    /// - Returns: Whether it has started it.
    static func startSocket() -> Bool {
        guard ServiceManager.user.control("is-enabled", "cofferd.socket") else { return false }
        Output.standardError.line("coffer: starting cofferd.socket of your service manager; --no-start prevents that")
        return ServiceManager.user.control("start", "cofferd.socket")
    }
}
