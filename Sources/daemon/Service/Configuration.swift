package import CofferCore
package import CofferRouting
package import CofferSystem
internal import CofferVault

/// The configuration of a daemon.
package struct Configuration: Sendable {
    /// The settings of the vault itself.
    var vault: VaultSettings
    /// The times of locking and of wiping keys.
    package var lockPolicy: LockSchedule.Policy
    /// Whether to lock when the last connection ends.
    package var locksOnLastDisconnect = false
    /// Whether the daemon ends with its last connection: it serves one program.
    package var endsOnLastDisconnect = false
    /// Seconds without a connection after which the server exits, if it holds no keys; `nil` for never.
    package var idleExitSeconds: Int?
    /// Receives the state of the vault at the start and after each change; `nil` if the vault can't be used.
    package var reportState: @Sendable (VaultState?) -> Void = { _ in }
    /// The events of the machine and its sessions that lock the vault.
    package var presencePolicy = Presence.Policy()
    /// The identity of the daemon itself: its user owns the vault.
    package var daemon: ClientIdentity
    /// The storage for keys while no daemon runs; `nil` if there is none.
    package var carryOver: CarryOver?
    /// The entitlements at the start.
    package var entitlements: [Entitlement] = []
    /// The routing at the start.
    package var routingPolicy = RoutingPolicy.standard
    /// Identifies a client by its kernel credentials and by what /proc says about its process.
    ///
    /// If it throws, the client is refused.
    package var identify: @Sendable (PeerIdentity, borrowing HeldProcess) throws -> ClientIdentity {
        get { vault.identify }
        set { vault.identify = newValue }
    }
    /// Receives each fault of the vault as a whole when the vault is opened.
    package var reportFault: @Sendable (VaultFault) -> Void {
        get { vault.reportFault }
        set { vault.reportFault = newValue }
    }
    /// Gives a duplicate of a service manager's connection to a process that outlives the daemon; `nil` if there is
    /// none.
    package var holdConnection: (@Sendable (borrowing OwnedDescriptor) throws(SystemError) -> Void)?
    /// The time for which a starting unit waits for the vault to be unlocked.
    package var credentialWaitSeconds = 0
    /// Receives the records besides the vault's own audit; `nil` for none.
    package var journal: (@Sendable ([AuditRecord]) -> Void)?
    /// Whether these include the requests that were granted and changed nothing.
    package var journalHasReads = false
    /// Whether these have the names of items, and words that may contain one.
    package var journalHasNames = false

    /// Makes the configuration of a vault.
    ///
    /// - Parameters:
    ///   - statePath: The vault's state directory.
    ///   - daemon: The identity of the daemon itself.
    ///   - credentialsPath: The directory of the service manager's credentials, if there is one: the device key may be
    ///     among them.
    package init(
        statePath: String,
        daemon: ClientIdentity,
        credentialsPath: String? = nil,
        lockPolicy: LockSchedule.Policy = LockSchedule.Policy(),
        clock: BootClock = .system,
        fileSystem: FileSystem = .real
    ) {
        vault = VaultSettings(
            statePath: statePath,
            credentialsPath: credentialsPath,
            clock: clock,
            fileSystem: fileSystem
        )
        self.lockPolicy = lockPolicy
        self.daemon = daemon
    }

    /// The days that a removed item stays in the trash; 0 for no trash.
    package var trashDays: Int {
        get { vault.trash.days }
        set { vault.trash.days = newValue }
    }

    /// The space of one access group in the trash, in bytes.
    package var trashByteCount: Int64 {
        get { vault.trash.byteCount }
        set { vault.trash.byteCount = newValue }
    }
}
