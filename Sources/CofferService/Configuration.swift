package import CofferSystem

/// What a daemon is told before it starts.
package struct Configuration: Sendable {
    /// The vault's state directory.
    package var statePath: String
    /// When the vault locks, and what follows.
    package var lockPolicy: LockSchedule.Policy
    /// Whether it locks when the last connection is gone.
    package var locksOnLastDisconnect = false
    /// The user who may connect: the vault's owner.
    package var ownerID: UInt32
    /// The time that deadlines are counted in.
    package var clock: BootClock
    /// The seam for failing operations on disk.
    package var fileSystem: FileSystem

    /// Makes the configuration of a vault.
    ///
    /// - Parameters:
    ///   - statePath: The vault's state directory.
    ///   - ownerID: The user who may connect.
    package init(
        statePath: String,
        ownerID: UInt32,
        lockPolicy: LockSchedule.Policy = LockSchedule.Policy(),
        clock: BootClock = .system,
        fileSystem: FileSystem = .real
    ) {
        self.statePath = statePath
        self.lockPolicy = lockPolicy
        self.ownerID = ownerID
        self.clock = clock
        self.fileSystem = fileSystem
    }
}
