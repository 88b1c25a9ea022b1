package import CofferBackup
package import CofferClient
package import CofferCore
package import CofferCommandSupport
internal import CofferTerminal

/// What a running vault remembers of a repository that it was backed up to.
package struct RememberedBackup {
    private let status: BackupStatus

    /// The newest snapshot that was stored.
    package var newest: SnapshotReference? { status.newest.map { SnapshotReference($0) } }

    /// Opens the repository, and checks that its configuration is the registered one.
    package func open(_ place: String) throws(CofferError) -> Repository {
        let storage = try RepositoryPlace.storage(at: place)
        let repository = try Repository.open(storage, expecting: status.configuration)
        if let digest = status.configuration { try repository.requireConfiguration(digest) }
        return repository
    }

    /// Why there is no newer snapshot, if the last backup failed.
    package var failure: [Line] {
        guard let failed = status.failed else { return [] }
        return ["failed      \(Timestamp.text(failed)): \(status.failure ?? "")"]
    }

    fileprivate init(_ status: BackupStatus) { self.status = status }
}

extension RememberedBackup: Printable {
    package var text: [Line] {
        ["last stored \(status.completed.map { Timestamp.text($0) } ?? "none")"] + failure
    }

    package var json: JSONObject {
        var json: JSONObject = [:]
        if let completed = status.completed { json.set("completed", .integer(completed)) }
        if let failed = status.failed { json.set("failed", .integer(failed)) }
        if let failure = status.failure { json.set("failure", .string(failure)) }
        return json
    }
}

extension BackupStatus {
    /// What the vault remembers of a place; `nil` if that is not where it is backed up to.
    func remembered(of place: String) -> RememberedBackup? {
        repository.map { $0.hasSameBytes(as: absolutePlace(place)) } ?? false ? RememberedBackup(self) : nil
    }
}

extension ConnectionOptions {
    /// What a vault remembers of a repository, if its daemon runs.
    ///
    /// The repository alone is enough for the verbs that use it.
    package func rememberedBackup(of place: String) -> RememberedBackup? {
        guard let client = try? connectToRunning(), let status = try? client.call(BackupStatusParameters()).value else {
            return nil
        }
        return status.remembered(of: place)
    }
}

extension Optional where Wrapped == RememberedBackup {
    /// Opens a repository, whether or not a vault remembers it.
    package func openRepository(_ place: String) throws(CofferError) -> Repository {
        if let self { return try self.open(place) }
        return try Repository.open(try RepositoryPlace.storage(at: place))
    }
}

extension BlockingClient {
    /// Has the vault record why there is no new snapshot, unless another process has stored one meanwhile.
    func recordBackupFailure(_ error: CofferError, since status: BackupStatus) {
        guard error.code != .userCanceled, let now = try? call(BackupStatusParameters()).value,
            !status.isUnderWay, now.completed == status.completed
        else { return }
        var reason = error.message
        while reason.utf8.count > Limits.backupFailureBytes { reason.removeLast() }
        _ = try? call(BackupEndParameters(failure: reason))
    }
}
