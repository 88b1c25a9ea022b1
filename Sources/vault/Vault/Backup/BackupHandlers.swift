internal import CofferFileContent
internal import CofferCore
internal import CofferDatabase
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferWire
internal import Glibc

// Backups, in every state of the vault: all that a client gets is sealed, and the key that signs is under the device key.

package struct BackupHandlers: HandlerFamily {
    package let shared: HandlerState

    package init(_ shared: HandlerState) { self.shared = shared }

    package func backupStatus(_ params: BackupStatusParameters, _ call: Call) throws -> Step {
        call.isFor("can't tell how the vault is backed up")
        if params.countsLeftBehind {
            return try perform(LeftBehindCounting { [self] count in try backupStatus(leftBehindCount: count) }, call)
        }
        return .done(Reply(try backupStatus(leftBehindCount: nil)))
    }

    private func backupStatus(leftBehindCount: Int?) throws -> BackupStatus {
        let record = try catalog.backupRecord(try keys)
        return BackupStatus(
            repository: record?.repository,
            completed: record?.completed,
            newest: record?.newest,
            warnAfterSeconds: record?.warnAfterSeconds ?? 0,
            configuration: record?.configuration,
            failed: record?.failure?.date,
            failure: record?.failure?.reason,
            isUnderWay: shared.backup != nil,
            leftBehindCount: leftBehindCount
        )
    }

    package func backupRegister(_ params: BackupRegisterParameters, _ call: Call) throws -> Step {
        call.isFor("can't set up the backup")
        let makesKeyOnly = params.repository == nil && params.newestNumber == nil && params.configuration == nil
        guard makesKeyOnly || (1...Limits.repositoryBytes).contains(params.repository?.utf8.count ?? 0) else {
            throw CofferError(.param, "parameter 'repository': it has 1 to \(Limits.repositoryBytes) bytes")
        }
        if let digest = params.configuration {
            let digits = Array("0123456789abcdef".utf8)
            let isWhole = digest.utf8.count == 2 * Limits.snapshotDigestBytes
            guard isWhole, digest.utf8.allSatisfy(digits.contains) else {
                throw CofferError(.param, "parameter 'configuration': it is no digest")
            }
        }
        let (catalog, keys) = (try catalog, try keys)
        let existing = try catalog.backupKey()
        let key: SealedBackupKey
        do throws(KeyError) {
            if let existing { key = existing } else { key = try keys.newBackupKey() }
        } catch {
            throw error.cofferError("the key of the backup", in: keys.state, for: .write)
        }
        var record = params.repository.map { BackupRecord(repository: $0, warnAfterSeconds: params.warnAfterSeconds) }
        record?.configuration = params.configuration
        let proof = call.attachments.takePayload()
        if let number = params.newestNumber {
            record?.newest = try newest(number, proof?.exposeBytes() ?? [], signedBy: existing)
            record?.completed = params.completed ?? wallClockMilliseconds()
        } else if proof != nil {
            throw CofferError(.param, "there is a payload, and parameter 'newest' is missing")
        }
        let registration = BackupRegistration(vaultID: keys.vaultID, publicKey: try publicKey(of: key))
        try catalog.change { _ in
            if existing == nil { try catalog.store(key) }
            if let record { try catalog.store(record, keys) }
        }
        return .done(Reply(registration))
    }

    /// The newest snapshot of a repository, if the vault has signed it.
    private func newest(
        _ number: Int64,
        _ proof: [UInt8],
        signedBy key: SealedBackupKey?
    ) throws -> BackupReference {
        guard proof.count == Limits.snapshotProofBytes else {
            throw CofferError(.param, "the payload is no digest with its signature")
        }
        let reference = BackupReference(number: number, digest: Array(proof.prefix(Limits.snapshotDigestBytes)))
        let signature = Array(proof.dropFirst(Limits.snapshotDigestBytes))
        let keys = try keys
        do throws(KeyError) {
            if let key, unsafe try keys.isSigned(reference.signedMessage.span.bytes, signature, by: key) {
                return reference
            }
        } catch {
            throw error.cofferError("the key of the backup", in: keys.state, for: .read)
        }
        throw CofferError(
            .param,
            "the vault has not signed snapshot \(number)",
            hint: "the repository belongs to another vault, or was changed"
        )
    }

    private func publicKey(of key: SealedBackupKey) throws -> [UInt8] {
        let keys = try keys
        do throws(KeyError) { return try keys.publicKey(of: key) } catch {
            throw error.cofferError("the key of the backup", in: keys.state, for: .read)
        }
    }

    // MARK: A backup

    package func backupBegin(_ params: BackupBeginParameters, _ call: Call) throws -> Step {
        call.isFor("can't begin a backup")
        guard shared.backup == nil else {
            throw CofferError(
                .notAvailable,
                "another backup of this vault is under way",
                hint: "repeat the command when it has ended",
                retry: .later
            )
        }
        let catalog = try catalog
        guard let key = try catalog.backupKey(), let record = try catalog.backupRecord(try keys) else {
            throw CofferError(
                .notAvailable,
                "no backup of this vault was set up",
                hint: "set one up with 'coffer backup init REPOSITORY'"
            )
        }
        let session = BackupSession(
            of: call.caller,
            catalog,
            try keys,
            in: try vault.stateDirectory(),
            key,
            newest: record.newest
        )
        try session.begin(since: params.since)
        shared.backup = session
        call.atEnd { [self] in if !session.isReady { end(session) } }
        let copying = CatalogCopying(session) { [self] in observer?.commit() }
        return try perform(copying, call, wantsProgress: params.wantsProgress)
    }

    package func backupContents(_ params: BackupContentsParameters, _ call: Call) throws -> Step {
        call.isFor("can't list what the backup reads")
        let session = try copyingSession(of: call)
        let ids = try session.contents(after: params.after)
        let contents = session.catalog.files.contents
        return .work(with: ()) { (_) throws(CofferError) -> [StoredContent] in
            do throws(SystemError) {
                return try ids.map { (id) throws(SystemError) in try contents.stored(id) }
            } catch {
                throw error.cofferError("can't list what the backup reads")
            }
        } then: { found in
            let page = found.map { BackupContent($0) }
            return .done(Reply(BackupPage(contents: page, next: ids.count < Limits.backupPage ? nil : ids.last)))
        }
    }

    package func backupRead(_ params: BackupReadParameters, _ call: Call) throws -> Step {
        call.isFor("can't read \(quotedForDisplay(params.part)) for the backup")
        let part = try BackupPart(params.part, of: try copyingSession(of: call))
        guard let socket = call.attachments.takeSocket() else {
            throw CofferError(.param, "no socket was passed that the descriptor is sent over")
        }
        return .work(with: socket) { (socket) throws(CofferError) in
            try socket.withSocket { (socket) throws(CofferError) in try part.send(over: socket) }
        } then: { count in
            .done(Reply(BackupBytes(byteCount: count)))
        }
    }

    package func backupSign(_ params: BackupSignParameters, _ call: Call) throws -> Step {
        call.isFor("can't sign the snapshot")
        guard let digest = call.attachments.takePayload(), digest.count == Limits.snapshotDigestBytes else {
            throw CofferError(.param, "the payload is no digest of \(Limits.snapshotDigestBytes) bytes")
        }
        let session = try session(of: call)
        guard params.number > session.newest?.number ?? 0 else {
            throw CofferError(.param, "parameter 'number': the vault has signed snapshot \(params.number) already")
        }
        let reference = BackupReference(
            number: params.number,
            digest: digest.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
        )
        let keys = try keys
        let signature: [UInt8]
        do throws(KeyError) {
            signature = unsafe try keys.sign(reference.signedMessage.span.bytes, with: session.key)
        } catch {
            throw error.cofferError("the key of the backup", in: keys.state, for: .read)
        }
        session.signed = reference
        return .done(Reply(Empty(), payload: try unsafe SecretBytes(copying: signature.span.bytes)))
    }

    package func backupEnd(_ params: BackupEndParameters, _ call: Call) throws -> Step {
        call.isFor("can't end the backup")
        if let failure = params.failure { return try endBackup(for: failure, call) }
        let session = try session(of: call)
        end(session)
        guard params.isCompleted, let signed = session.signed, let keys = openKeys,
            var record = try session.catalog.backupRecord(keys)
        else { return .done }
        record.newest = signed
        record.failure = nil
        record.completed = wallClockMilliseconds()
        session.noteStored()
        try session.catalog.change(isOfBackup: true) { _ in try session.catalog.store(record, keys) }
        return .done
    }

    /// Records why there is no new snapshot.
    private func endBackup(for failure: String, _ call: Call) throws -> Step {
        endBackup(of: call.caller)
        guard failure.utf8.count <= Limits.backupFailureBytes else {
            throw CofferError(.param, "parameter 'failure': it has more than \(Limits.backupFailureBytes) bytes")
        }
        let (catalog, keys) = (try catalog, try keys)
        guard var record = try catalog.backupRecord(keys) else { return .done }
        record.failure = (date: wallClockMilliseconds(), reason: failure)
        try catalog.change(isOfBackup: true) { _ in try catalog.store(record, keys) }
        return .done
    }

    // MARK: Its end

    /// Ends the backup of a connection that has ended.
    package func endBackup(of caller: Caller) {
        if let backup = shared.backup, backup.client === caller.context { end(backup) }
    }

    private func end(_ session: BackupSession) {
        guard shared.backup === session else { return }
        shared.backup = nil
        session.end()
        let catalog = session.catalog
        shared.chores.append(
            Chore(tenant: 0) { [self] _ in
                func resume() -> Step {
                    guard openCatalog === catalog else { return .done }
                    return catalog.files.removeReleased(limit: Limits.queryBatch) ? .done : .again(resume)
                }
                return resume()
            }
        )
    }

    /// The backup that the connection of a request has begun.
    private func session(of call: Call) throws(CofferError) -> BackupSession {
        guard let backup = shared.backup, backup.client === call.caller.context, backup.isReady,
            backup.catalog === openCatalog
        else {
            throw Self.noBackup
        }
        return backup
    }

    /// The backup that the connection of a request has begun, if it has something to read.
    private func copyingSession(of call: Call) throws(CofferError) -> BackupSession {
        let session = try session(of: call)
        guard !session.isUnchanged else {
            throw CofferError(
                .notAvailable,
                "nothing was copied for this backup, because nothing has changed",
                hint: "take the files of the newest snapshot, or begin again without 'since'"
            )
        }
        return session
    }

    private static let noBackup = CofferError(
        .notAvailable,
        "no backup is under way on this connection",
        hint: "begin one with 'backup.begin'"
    )
}

/// Counts the ThisDeviceOnly items in slices.
private final class LeftBehindCounting: SlicedWork {
    private let status: (Int) throws -> BackupStatus
    private var count = 0
    private var last: Int64 = 0

    init(then status: @escaping (Int) throws -> BackupStatus) { self.status = status }

    var doneCount: Int { 0 }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        repeat {
            guard let page = try KeychainStore.countOfThisDevice(in: catalog.connection, after: last) else {
                return Reply(try status(count))
            }
            (count, last) = (count + page.count, page.last)
        } while !isEnough()
        return nil
    }
}

/// Copies the catalog of a backup in slices.
private final class CatalogCopying: SlicedWork {
    private let session: BackupSession
    private let commit: () -> Void

    init(_ session: BackupSession, commit: @escaping () -> Void) {
        self.session = session
        self.commit = commit
    }

    var doneCount: Int { session.copiedPages }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        // What other requests have changed in this turn is part of the copy, or not at all.
        if !session.isReady && catalog.hasChanges { commit() }
        if !session.isReady { try session.advance(until: isEnough) }
        guard session.isReady else { return nil }
        return Reply(
            BackupSizes(
                vaultID: session.vaultID,
                keybagByteCount: Int64(session.copied.keybag.count),
                anchorByteCount: session.copied.anchor.map { Int64($0.count) },
                catalogByteCount: session.copied.byteCount,
                newest: session.newest,
                leftBehindCount: session.copied.leftBehindCount,
                isUnchanged: session.isUnchanged
            )
        )
    }
}

extension BackupContent {
    /// A content, as it is on the disk.
    fileprivate init(_ stored: StoredContent) {
        self.init(id: stored.id, byteCount: stored.byteCount, overlayByteCount: stored.overlayByteCount)
    }
}

extension BackupReference {
    /// What the key of the backup signs: it signs nothing else.
    var signedMessage: [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer backup snapshot v1")
        writer.write(UInt8(0))
        writer.write(number)
        writer.write(raw: digest)
        return writer.bytes
    }
}
