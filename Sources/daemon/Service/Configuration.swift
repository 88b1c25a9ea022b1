package import CofferCore
package import CofferRouting
package import CofferSystem
internal import CofferVault

/// The configuration of a daemon.
package struct Configuration: Sendable {
    /// The settings of the vault itself.
    var vault: VaultSettings
    /// The causes of a lock, and the times at which it wipes keys.
    package var locking = Locking()
    /// Whether the daemon ends with its last connection: it serves one program.
    package var endsOnLastDisconnect = false
    /// Seconds without a connection after which the server exits, if it holds no keys; `nil` for never.
    package var idleExitSeconds: Int?
    /// Receives the state of the vault at the start and after each change; `nil` if the vault can't be used.
    package var reportState: @Sendable (VaultState?) -> Void = { _ in }
    /// The identity of the daemon itself: its user owns the vault.
    package var daemon: ClientIdentity
    /// The storage for keys while no daemon runs; `nil` if there is none.
    package var carryOver: CarryOver?
    /// What concerns mounts.
    package var mounting = Mounting()
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
    /// The credentials for units.
    package var credentials = Credentials()
    /// The records besides the vault's own audit.
    package var journal = Journaling()

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
        locking.times = lockPolicy
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

extension Configuration {
    /// The causes of a lock, and the times at which it wipes keys.
    package struct Locking: Sendable {
        /// The times of locking and of wiping keys.
        package var times = LockSchedule.Policy()
        /// The events of the machine and its sessions that lock the vault.
        package var presence = Presence.Policy()
        /// Whether to lock when the last connection ends.
        package var isOnLastDisconnect = false

        package init() {}
    }

    /// The answers to service managers that ask for credentials of units.
    package struct Credentials: Sendable {
        /// Gives a duplicate of a service manager's connection to a process that outlives the daemon; `nil` if there is
        /// none.
        package var hold: (@Sendable (borrowing OwnedDescriptor) throws(SystemError) -> Void)?
        /// The time for which a starting unit waits for the vault to be unlocked.
        package var waitSeconds = 0

        package init() {}
    }

    /// What concerns the mounts that the daemon answers.
    package struct Mounting: Sendable {
        /// The storage for mounts while no daemon runs; `nil` if there is none: then they end with the daemon.
        package var store: MountStore?
        /// Reports a line without secrets to the administrator.
        package var report: @Sendable (String) -> Void = { _ in }

        package init() {}
    }

    /// The records besides the vault's own audit.
    package struct Journaling: Sendable {
        /// Receives them; `nil` for none.
        package var write: (@Sendable ([AuditRecord]) -> Void)?
        /// Whether they include the requests that were granted and changed nothing.
        package var hasReads = false
        /// Whether they have the names of items, and words that may contain one.
        package var hasNames = false

        package init(write: (@Sendable ([AuditRecord]) -> Void)? = nil) { self.write = write }

        /// Writes the records that are wanted.
        ///
        /// - Parameter tag: What stands for the name of an item.
        func write(_ all: [AuditRecord], tag: (AuditedItem) -> String?) {
            guard let write else { return }
            let records = hasReads ? all : all.filter { !$0.isRead }
            if !records.isEmpty { write(hasNames ? records : records.map { $0.withoutNames(tag) }) }
        }
    }
}
