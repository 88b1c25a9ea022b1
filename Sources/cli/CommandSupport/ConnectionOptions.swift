package import ArgumentParser
package import CofferClient
internal import CofferTerminal
internal import Glibc

/// The options that select the daemon.
package struct ConnectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The daemon's socket.", valueName: "path"), completion: .file())
    package var socket: String?

    @Flag(help: "Do not start a daemon where none runs.")
    var noStart = false

    @Option(
        help: ArgumentHelp(
            "Fail if the daemon is silent for this time (default: \(Limits.answerSeconds); 0: never).",
            valueName: "seconds"
        )
    )
    package var timeout: SecondsArgument?

    package init() {}

    /// How long the daemon may be silent during a call; `nil` for ever.
    package var patience: Duration? {
        let seconds = timeout?.count ?? Limits.answerSeconds
        return seconds == 0 ? nil : .seconds(seconds)
    }

    /// The same options for another program of Coffer.
    package var arguments: [String] {
        (socket.map { ["--socket", $0] } ?? []) + (noStart ? ["--no-start"] : [])
            + (timeout.map { ["--timeout", "\($0.count)"] } ?? [])
    }

    /// Connects to the given socket, or that of the environment, or the user's, or the system's.
    package func connect() throws(CofferError) -> BlockingClient {
        if let socket { return try BlockingClient(socketPath: socket, timeout: patience) }
        let candidates = SocketPath.candidates(environment)
        guard candidates.count > 1 else {
            let client = try BlockingClient(socketPath: candidates[0], timeout: patience)
            if isDefault && geteuid() != 0 { Self.nameMachineVault(client) }
            return client
        }
        do throws(CofferError) {
            return try BlockingClient(socketPath: candidates[0], timeout: patience)
        } catch {
            return try connect(toOwn: candidates[0], orMachines: candidates[1], failure: error)
        }
    }

    /// Connects to a daemon that runs, or that the service manager starts.
    package func connectToRunning() throws(CofferError) -> BlockingClient {
        var options = self
        options.noStart = true
        return try options.connect()
    }

    /// Refuses root, who has no vault of its own, unless a socket is named.
    package func requireOwnVault() throws(CofferError) {
        guard isDefault, geteuid() == 0 else { return }
        throw CofferError(
            .param,
            "root has no vault of its own, and administers the machine's",
            hint: "'coffer init --machine' makes that one; for the vault of a user, run this as that user"
        )
    }

    /// Whether neither an option nor the environment names a socket.
    var isDefault: Bool { socket == nil && environment("COFFER_SOCKET") == nil }

    /// Connects to the daemon of the machine's vault.
    package func connectToMachine() throws(CofferError) -> BlockingClient {
        try BlockingClient(socketPath: SocketPath.system, timeout: patience)
    }

    /// Starts the user's own daemon, or connects to the machine's.
    ///
    /// - Parameter failure: Why the user's own daemon could not be connected to.
    private func connect(
        toOwn own: String,
        orMachines machines: String,
        failure: CofferError
    ) throws(CofferError) -> BlockingClient {
        let isManaged = ServiceManager.isUsersRunning
        // In a session that is older than the installation, the socket is enabled and was not started.
        if !noStart, isManaged, DaemonLauncher.startSocket() {
            return try BlockingClient(socketPath: own, timeout: patience)
        }
        if let client = try? BlockingClient(socketPath: machines, timeout: patience) {
            try checkAdmission(to: client, isManaged: isManaged)
            Self.nameMachineVault(client)
            return client
        }
        // If the service manager owned the socket, it would have started the daemon.
        guard !noStart, !isManaged else { throw failure }
        return try DaemonLauncher.startAndConnect(to: own, timeout: patience)
    }

    /// Has the first change of a user without a daemon name the vault that it is made in.
    private static func nameMachineVault(_ client: BlockingClient) {
        client.willChange = {
            Output.standardError.line("coffer: no daemon of your own runs here: this changes the machine's vault")
        }
    }

    /// Says what to do for a vault of one's own, if the machine's vault refuses the user.
    private func checkAdmission(to client: BlockingClient, isManaged: Bool) throws(CofferError) {
        do throws(CofferError) {
            _ = try client.status()
        } catch {
            guard error.code == .missingEntitlement else { throw error }
            let way =
                isManaged
                ? "'systemctl --user enable --now cofferd.socket' starts the daemon of your own vault"
                : "your own vault has no daemon: start 'cofferd', or leave out --no-start"
            throw CofferError(error.code, "this is the machine's vault, and \(error.message)", hint: way)
        }
    }
}

/// A number of seconds on the command line.
package struct SecondsArgument: ExpressibleByArgument {
    package let count: Int

    package init?(argument: String) {
        guard let count = Int(argument), (0...Limits.maximumLockDelaySeconds).contains(count) else { return nil }
        self.count = count
    }
}
