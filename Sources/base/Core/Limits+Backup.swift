extension Limits {
    /// The bytes of a pack of a backup, after which it is full; its last chunk may exceed that.
    package static let packBytes = 16 << 20
    /// The bytes of a pack with its last chunk and its table.
    package static let largestPackBytes = 2 * packBytes + (1 << 20)
    /// The chunks of a pack: its table stays below 512 KiB.
    package static let packChunks = 16 << 10
    /// The bytes of a chunk, of a file of up to 1 TiB.
    package static let backupChunkBytes = 16 << 20
    /// The packs that are written before their index is: what a crash can make unknown, until the packs are scanned.
    package static let packsPerIndex = 16
    /// The bytes of an index: of that many packs, each with as many chunks as it can have.
    package static let backupIndexBytes = 8 << 20
    /// The bytes of a list of files before the next one begins, unless the name of a file ends it earlier.
    package static let fileListBytes = 256 << 10
    /// The bytes of a list of files with its last entry, that of a file of 1 TiB.
    package static let largestFileListBytes = 4 << 20
    /// The bytes of a snapshot: lists of some 80 million files.
    package static let snapshotBytes = 4 << 20
    /// The bytes of the configuration of a repository.
    package static let backupConfigurationBytes = 4 << 10
    /// The packs that are being synced while the next one is written.
    package static let packsInFlight = 3
    /// The snapshots that a repository has, those that were forgotten included: one an hour for ten years.
    package static let snapshots = 100_000
    /// The findings that a check lists one by one.
    package static let backupFindings = 1000
    /// The seconds for which the server of a repository may be silent.
    package static let backupServerSilenceSeconds: Int64 = 120
    /// Milliseconds after which the lock of a repository on another machine is taken for what a crash left behind.
    package static let backupLockMilliseconds: Int64 = 30 * 60 * 1000
    /// The share of a pack, in percent, that no snapshot refers to, from which on it is written anew by a prune.
    package static let unusedPercent = 25
    /// The bytes of a file after which their writeback is started: the sync at its end waits for fewer.
    package static let writebackBytes: Int64 = 4 << 20
    /// The objects of a remote repository that are cached on this machine.
    package static let fetchedObjects = 2
    /// The bytes of the output of `sftp` that are read at once.
    package static let sftpReadBytes = 64 << 10
    /// Milliseconds after which the progress of `sftp` is checked again.
    package static let sftpTurnMilliseconds: Int32 = 1000
    /// Seconds until a busy repository is tried again: a process on another machine sends no notification.
    package static let repositoryPauseSeconds: UInt32 = 2
    /// The attempts to connect to the daemon for a snapshot: ten seconds, as it opens a restored vault.
    package static let snapshotStartAttempts = 500
}
