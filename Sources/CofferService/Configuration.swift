package import CofferCore
package import CofferRouting
package import CofferSystem

/// What a daemon is told before it starts.
package struct Configuration: Sendable {
    /// The vault's state directory.
    package var statePath: String
    /// When the vault locks, and what follows.
    package var lockPolicy: LockSchedule.Policy
    /// Whether it locks when the last connection is gone.
    package var locksOnLastDisconnect = false
    /// Seconds without a connection, after which the server shuts down if nothing is lost by that; `nil` for never.
    package var idleExitSeconds: Int?
    /// Told the state of the vault at the start, and each time that it has changed; `nil` where the vault can't be used.
    package var tellState: @Sendable (VaultState?) -> Void = { _ in }
    /// Receives each fault of the vault as a whole when the vault is opened.
    package var tellFault: @Sendable (VaultFault) -> Void = { _ in }
    /// What of that which happens around it locks it.
    package var presencePolicy = Presence.Policy()
    /// The daemon, as a client of its own: its user is the vault's owner.
    package var daemon: ClientIdentity
    /// The directory of the service manager's credentials, if it gave any: the device key may be one.
    package var credentialsPath: String?
    /// Where keys are kept while no daemon runs; `nil` where they are not.
    package var carryOver: CarryOver?
    /// What was written of clients, until it is told anew.
    package var entitlements: [Entitlement] = []
    /// What the matrix decides by, until it is told anew.
    package var routingPolicy = RoutingPolicy.standard
    /// Tells who a client is, by what the kernel says of it and by what is found under the number of its process.
    ///
    /// Throws where it can't tell: then nobody is let in.
    package var identify: @Sendable (PeerIdentity, borrowing HeldProcess) throws -> ClientIdentity = { peer, process in
        try ClientIdentity(peer, process)
    }
    /// Has a second one of a service manager's connection held by what outlives the daemon; `nil` if nothing does.
    package var holdConnection: (@Sendable (borrowing OwnedDescriptor) throws(SystemError) -> Void)?
    /// For how long a unit that is started waits for what is locked.
    package var credentialWaitSeconds = 0
    /// Takes what was done, besides the vault's own audit; `nil` where nobody does.
    package var journal: (@Sendable ([AuditRecord]) -> Void)?
    /// The time that deadlines are counted in.
    package var clock: BootClock
    /// The seam for failing operations on disk.
    package var fileSystem: FileSystem

    /// Makes the configuration of a vault.
    ///
    /// - Parameters:
    ///   - statePath: The vault's state directory.
    ///   - daemon: The daemon, as a client of its own.
    ///   - credentialsPath: The directory of the service manager's credentials, if it gave any.
    package init(
        statePath: String,
        daemon: ClientIdentity,
        credentialsPath: String? = nil,
        lockPolicy: LockSchedule.Policy = LockSchedule.Policy(),
        clock: BootClock = .system,
        fileSystem: FileSystem = .real
    ) {
        self.statePath = statePath
        self.lockPolicy = lockPolicy
        self.daemon = daemon
        self.credentialsPath = credentialsPath
        self.clock = clock
        self.fileSystem = fileSystem
    }
}
