package import CofferCore
internal import CofferMemory
internal import CofferSystem

/// A repository of backups.
///
/// How a backup is made:
///
///     let storage = try RepositoryPlace.storage(at: "/mnt/backup") // or sftp://user@host/path
///     let repository = try Repository.open(storage)               // once: Repository.create(storage, configuration)
///     let writer = try repository.beginSnapshot(newest: remembered)
///     for file in filesOfTheStateDirectory {                      // in the order of the bytes of their paths
///         try writer.add(file) { () throws(CofferError) in try descriptor(of: file) }
///     }
///     let snapshot = try writer.finish { reference in signature(of: reference.signedMessage) }
///     // snapshot.reference is what the vault has to remember, and to give as `newest` the next time
///
/// A repository is used by one thread.
package final class Repository {
    /// Where it is.
    package let storage: any RepositoryStorage
    /// Its first object.
    package let configuration: RepositoryConfiguration
    let key: RepositoryKey

    private init(_ storage: any RepositoryStorage, _ configuration: RepositoryConfiguration) throws(CofferError) {
        self.storage = storage
        self.configuration = configuration
        key = try RepositoryKey(configuration)
        if configuration.isAppendOnly { storage.useAppendOnly() }
    }

    /// Makes a repository.
    ///
    /// - Parameters:
    ///   - storage: An empty place, or none yet.
    ///   - configuration: Its configuration.
    /// - Throws: `duplicateItem` if there is a repository.
    package static func create(
        _ storage: any RepositoryStorage,
        _ configuration: RepositoryConfiguration
    ) throws(CofferError) -> Repository {
        if try storage.read(BackupFormat.configurationName, at: 0, 1) != nil {
            throw CofferError(
                .duplicateItem,
                "\(quotedForDisplay(storage.place)) is a repository already",
                hint: "choose another place, or remove it if no snapshot in it is needed any more"
            )
        }
        if configuration.isAppendOnly { storage.useAppendOnly() }
        try storage.write(BackupFormat.configurationName, configuration.bytes)
        return try Repository(storage, configuration)
    }

    /// Opens a repository.
    ///
    /// - Throws: `notAvailable` if there is none; `decode` if its configuration is damaged.
    package static func open(_ storage: any RepositoryStorage) throws(CofferError) -> Repository {
        let limit = Limits.backupConfigurationBytes
        guard let bytes = try storage.read(BackupFormat.configurationName, at: 0, limit + 1) else {
            throw CofferError(
                .notAvailable,
                "there is no repository of backups at \(quotedForDisplay(storage.place))",
                hint: "mount its file system, name another place by --repository, or make one with 'coffer backup init'"
            )
        }
        return try Repository(storage, try RepositoryConfiguration(bytes))
    }

    /// The snapshots, verified.
    ///
    /// - Parameter newest: The newest one that the vault remembers.
    package func chain(newest: SnapshotReference? = nil) throws(CofferError) -> SnapshotChain {
        try SnapshotChain(storage, configuration, newest: newest)
    }

    /// Begins a snapshot.
    ///
    /// - Parameter newest: The newest one that the vault remembers, if there was any.
    /// - Throws: `notAvailable` if another process adds to the repository or removes from it.
    package func beginSnapshot(newest: SnapshotReference?) throws(CofferError) -> SnapshotWriter {
        let lock = try storage.lock(.add)
        return try SnapshotWriter(self, lock, try chain(newest: newest), newest: newest)
    }

    /// The files of a snapshot, in the order of the bytes of their paths.
    ///
    /// - Parameters:
    ///   - snapshot: The snapshot.
    ///   - body: Called for each file; returns whether to go on.
    package func forEachFile(
        of snapshot: Snapshot,
        _ body: (FileEntry) throws(CofferError) -> Bool
    ) throws(CofferError) {
        let lock = try storage.lock(.read)
        defer { withExtendedLifetime(lock) {} }
        let contents = try RepositoryContents(self)
        var reader = FileListReader(snapshot.listIDs, contents.reader)
        while let file = try reader.nextFile() { if try !body(file) { return } }
    }
}
