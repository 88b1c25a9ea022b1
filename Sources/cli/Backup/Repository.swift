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
    /// Damaged and missing copies of the configuration.
    private let configurationFindings: [RepositoryFinding]
    private var damagedCopies: [String]

    private init(
        _ storage: any RepositoryStorage,
        _ configuration: RepositoryConfiguration,
        _ findings: [RepositoryFinding] = [],
        damagedCopies: [String] = []
    ) throws(CofferError) {
        self.storage = storage
        self.configuration = configuration
        configurationFindings = findings
        self.damagedCopies = damagedCopies
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
        try requireNone(storage)
        if configuration.isAppendOnly { storage.useAppendOnly() }
        // A repository exists with the last of them.
        for name in configurationNames.reversed() { try storage.write(name, configuration.bytes) }
        return try Repository(storage, configuration)
    }

    private static let configurationNames = [BackupFormat.configurationName, BackupFormat.configurationCopyName]

    /// Checks that a place can be read, and has no repository.
    ///
    /// - Throws: `duplicateItem` if there is one.
    package static func requireNone(_ storage: any RepositoryStorage) throws(CofferError) {
        for name in configurationNames {
            if try storage.read(name, at: 0, 1) == nil { continue }
            throw CofferError(
                .duplicateItem,
                "\(quotedForDisplay(storage.place)) is a repository already",
                hint: "choose another place, or remove it if no snapshot in it is needed any more"
            )
        }
    }

    /// Opens a repository.
    ///
    /// - Parameter digest: The digest of the configuration that the vault remembers, in hexadecimal digits.
    /// - Throws: `notAvailable` if there is none; `decode` if both copies of its configuration are damaged.
    package static func open(
        _ storage: any RepositoryStorage,
        expecting digest: String? = nil
    ) throws(CofferError) -> Repository {
        let stored = try StoredConfiguration(storage, expecting: digest)
        return try Repository(storage, stored.configuration, stored.findings, damagedCopies: stored.damaged)
    }

    /// Checks that the configuration is the one that the vault remembers, before anything is written.
    ///
    /// - Throws: `decode` if it is another one.
    package func requireConfiguration(_ digest: String) throws(CofferError) {
        guard hexadecimal(configuration.digest) != digest else { return }
        throw CofferError.damaged(
            object: BackupFormat.configurationName,
            "it is not the configuration that the vault has registered"
        )
    }

    /// Writes damaged copies of the configuration anew, as far as the repository allows.
    private func repairConfiguration() throws(CofferError) {
        for name in damagedCopies {
            if try storage.read(name, at: 0, 1) != nil {
                if configuration.isAppendOnly { continue }
                try storage.remove(name)
            }
            try storage.write(name, configuration.bytes)
        }
        damagedCopies = []
    }

    /// The snapshots, verified.
    ///
    /// - Parameter newest: The newest one that the vault remembers.
    package func chain(newest: SnapshotReference? = nil) throws(CofferError) -> SnapshotChain {
        try SnapshotChain(storage, configuration, newest: newest, configurationFindings)
    }

    /// Begins a snapshot.
    ///
    /// - Parameter newest: The newest one that the vault remembers, if there was any.
    /// - Throws: `notAvailable` if another process adds to the repository or removes from it; `decode` if the vault has
    ///   not signed all of its snapshots, or for another configuration.
    package func beginSnapshot(newest: SnapshotReference?) throws(CofferError) -> SnapshotWriter {
        let lock = try storage.lock(.add)
        let chain = try chain(newest: newest)
        if let forgery = chain.forgeries.first {
            throw CofferError(
                .decode,
                forgery.message,
                hint: "nothing was stored; 'coffer backup check' names everything that is wrong"
            )
        }
        try repairConfiguration()
        return try SnapshotWriter(self, lock, chain, newest: newest)
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
