internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
internal import CofferSystem
internal import CofferWire
internal import Glibc

/// The content of a put, as far as it had to be read to decide where it goes.
private struct Intake: ~Copyable, Sendable {
    /// The first bytes.
    let prefix: SecretBytes
    /// The bytes behind them; `nil` where there are none.
    let rest: PeerStream?

    /// What the matrix may look at.
    var size: RoutingFacts.Size {
        switch rest {
        case .none: return .exactly(Int64(prefix.count))
        case .some(let rest):
            let seen = Int64(prefix.count)
            return rest.remainingByteCount.map { .exactly(seen + $0) } ?? .moreThan(seen)
        }
    }

    var facts: ContentFacts {
        prefix.withBytes { ContentFacts($0, size: size) }
    }
}

/// What the matrix may know of a content.
struct ContentFacts {
    let size: RoutingFacts.Size
    let looksStructured: Bool
    let signature: ContentSignature?

    /// Looks at a content.
    ///
    /// - Parameters:
    ///   - prefix: The first bytes of it.
    ///   - size: How many there are in all.
    init(_ prefix: RawSpan, size: RoutingFacts.Size) {
        let isWhole = size == .exactly(Int64(prefix.byteCount))
        self.size = size
        looksStructured = isWhole && CofferRouting.looksStructured(prefix)
        signature = ContentSignature(of: prefix, isWhole: isWhole)
    }

    /// Of a content of which nothing is known but its size.
    init(size: RoutingFacts.Size) {
        self.size = size
        looksStructured = false
        signature = nil
    }
}

/// Where a content goes in the file store, and what is known of what it replaces.
private struct FileTarget {
    let name: ItemName
    let group: String
    let kind: ItemKind?
    /// The protection of what was stored when the put began.
    let replacing: Protection?

    var key: GenericPasswordKey { GenericPasswordKey(name, in: group) }
}

extension Server {
    /// Stores an item where the matrix says.
    func putItem(
        _ params: ItemPutParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Work {
        let group = try caller.group(params.wishes.group)
        let vaultID = try vault.keys.vaultID
        let isTransfer = attachments.hasDescriptor
        return { (transfer) async throws(CofferError) in
            let cancellation = try self.makeCancellation(for: transfer)
            let intake = try await self.take(attachments, cancellation, transfer)
            if isTransfer { try self.checkSender(of: transfer) }
            // What comes from a pipe takes its time: the vault may have been erased, and another one made.
            guard try self.vault.keys.vaultID == vaultID else { throw .vaultIsGone }
            let before = try self.stored(params.name, in: group)?.info
            var wishes = params.wishes
            wishes.kind = wishes.kind ?? before?.kind
            let verdict = try self.route(
                params.name,
                in: group,
                over: before,
                wishes,
                intake.facts,
                for: caller.identity,
                entitled: caller.rights.protection
            )
            var losses: [String] = []
            switch verdict.protection {
            case .keychain(let accessibility):
                try await self.putInKeychain(params, intake.prefix, accessibility, group, caller.context)?.wait()
            case .file(let protectionClass):
                let target = FileTarget(
                    name: params.name,
                    group: group,
                    kind: wishes.kind,
                    replacing: before?.protection
                )
                losses = try await self.putInFileStore(
                    target,
                    intake,
                    protectionClass,
                    vaultID,
                    transfer,
                    cancellation,
                    params.wantsProgress
                )
            }
            return Reply(Placement(verdict, besides: losses))
        }
    }

    func makeCancellation(for transfer: Transfer) throws(CofferError) -> Cancellation {
        do {
            let cancellation = try Cancellation()
            cancel(with: cancellation, transfer)
            return cancellation
        } catch {
            throw error.cofferError("can't begin the transfer")
        }
    }

    /// Gives up what came through a descriptor, where the client has gone that sent it: its end may be none.
    private func checkSender(of transfer: Transfer) throws(CofferError) {
        // The event may have come, and its tenant not had its turn.
        if let session = sessions[transfer.session], session.hasHungUp { session.hangUp() }
        try checkWanted(transfer)
    }

    /// Reads of a descriptor as much as a keychain item may have, and one byte more: then its place is decided, and no more
    /// of it has to be held in memory.
    private func take(
        _ attachments: Attachments,
        _ cancellation: Cancellation,
        _ transfer: Transfer
    ) async throws(CofferError) -> Intake {
        let payload = attachments.takePayload()
        let stream: PeerStream?
        switch try attachments.takeDescriptor() {
        case .none: stream = nil
        case .some(let descriptor): stream = try PeerStream(descriptor, for: O_RDONLY, cancellation: cancellation)
        }
        guard let stream else { return Intake(prefix: try payload.orEmpty(), rest: nil) }
        let wanted = Limits.secretBytes + 1
        if payload.byteCount >= wanted { return Intake(prefix: try payload.orEmpty(), rest: stream) }
        let first = try payload.orEmpty()
        let handoff = StreamHandoff(stream)
        let prefix = try await workers.run(for: transfer.tenant) { () throws(CofferError) in
            try handoff.readOn(from: first, upTo: wanted)
        }
        let isComplete = prefix.count < wanted
        return Intake(prefix: prefix, rest: isComplete ? nil : handoff.take())
    }

    /// What the matrix says of an item.
    ///
    /// - Parameters:
    ///   - name: Its name, if it has one.
    ///   - group: Its access group.
    ///   - existing: What is stored under the name.
    ///   - wishes: What the caller says.
    ///   - content: What is known of its content.
    ///   - client: Who stores it.
    ///   - entitled: How it is protected by the client's entitlement.
    func route(
        _ name: ItemName?,
        in group: String,
        over existing: ItemInfo?,
        _ wishes: ItemWishes,
        _ content: ContentFacts,
        for client: ClientIdentity,
        entitled: Protection?
    ) throws(CofferError) -> Verdict {
        let facts = RoutingFacts(
            kind: wishes.kind,
            size: content.size,
            isDeclaredStructured: wishes.isStructured,
            looksStructured: content.looksStructured,
            signature: content.signature,
            isPresentedAsFile: wishes.isPresentedAsFile,
            scenario: wishes.scenario
        )
        let directory = try name.flatMap { (name) throws(CofferError) in try directoryClass(of: name, in: group) }
        return try Routing.route(
            facts,
            wishes: RoutingWishes(
                store: wishes.store,
                protectionClass: wishes.protectionClass,
                accessibility: wishes.accessibility,
                existing: existing?.protection,
                directory: directory,
                entitled: entitled,
                configured: routingPolicy.protection(of: name, from: client)
            ),
            bounds: routingPolicy.bounds
        )
    }

    private func putInKeychain(
        _ params: ItemPutParameters,
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ group: String,
        _ context: AuthenticationContext
    ) throws(CofferError) -> PendingCommit? {
        let key = GenericPasswordKey(params.name, in: group)
        let now = wallClockMilliseconds()
        do {
            let catalog = try vault.catalog
            try catalog.change { changes in
                try checkNoDirectory(params.name, in: group, catalog)
                let file = try catalog.files.find(params.name, in: group)
                let isNew = try changes.isWanted && file == nil && catalog.keychain.find(key) == nil
                try checkReplacing(file)
                try catalog.keychain.put(
                    key,
                    secret: secret,
                    accessibility: accessibility,
                    kind: params.wishes.kind ?? file?.kind,
                    created: file?.created,
                    now: now,
                    with: context
                )
                if let file { try catalog.files.remove(file) }
                try changes.note(try catalog.keychain.find(key).map { ItemChange(isNew ? .added : .changed, $0) })
            }
            return catalog.pendingCommit
        } catch {
            throw .init(mapping: error, "can't store \(params.name.quoted)")
        }
    }

    private func putInFileStore(
        _ target: FileTarget,
        _ intake: consuming Intake,
        _ protectionClass: ProtectionClass,
        _ vaultID: ItemID,
        _ transfer: Transfer,
        _ cancellation: Cancellation,
        _ wantsProgress: Bool
    ) async throws(CofferError) -> [String] {
        let write: ContentWrite
        do {
            let item = try vault.catalog.secret(named: target.name, in: target.group)
            try checkReplacing(item)
            try checkMoving(item)
            write = try vault.catalog.files.prepareWrite(target.name, in: target.group, as: protectionClass)
        } catch {
            throw .init(mapping: error, "can't store \(target.name.quoted)")
        }
        write.endOnLock(cancellation)
        defer { openFiles?.finished(write) }
        let report = progressReport(wantsProgress, total: intake.size.count, transfer)
        let content = intake
        let byteCount = try await workers.run(for: transfer.tenant) { () throws(CofferError) in
            try write.perform(prefix: content.prefix, rest: content.rest, progress: report)
        }
        let pending: PendingCommit?
        let losses: [String]
        do {
            try checkSender(of: transfer)
            guard try vault.keys.vaultID == vaultID else { throw CofferError.vaultIsGone }
            (pending, losses) = try commit(write, byteCount, target)
        } catch {
            openFiles?.discard(write)
            throw .init(mapping: error, "can't store \(target.name.quoted)")
        }
        try await pending?.wait()
        return losses
    }

    /// - Returns: What to wait for, and what an item of the keychain has lost by becoming a file.
    private func commit(
        _ write: ContentWrite,
        _ byteCount: Int64,
        _ target: FileTarget
    ) throws -> (PendingCommit?, losses: [String]) {
        // The content is sealed under the class that was right when it began to come: if somebody has stored another item
        // meanwhile, with a policy of its own, that one stays.
        let replaced = try stored(target.name, in: target.group)?.info
        guard replaced?.protection == target.replacing else {
            throw CofferError(
                .duplicateItem,
                "can't store \(target.name.quoted): somebody else has changed it meanwhile",
                hint: "repeat the command, if it still is to be replaced"
            )
        }
        let catalog = try vault.catalog
        let losses = try catalog.change { changes in
            let item = try catalog.secret(named: target.name, in: target.group)
            try checkReplacing(item)
            try checkMoving(item)
            let losses = try item.map { try Self.losses(of: $0, catalog.keychain) } ?? []
            if item != nil { _ = try catalog.keychain.remove(target.key) }
            try catalog.files.commit(
                write,
                at: target.name,
                in: target.group,
                byteCount: byteCount,
                kind: target.kind,
                created: item?.created,
                now: wallClockMilliseconds()
            )
            changes.note(ItemChange(replaced == nil ? .added : .changed, file: target.name, in: target.group))
            return losses
        }
        return (catalog.pendingCommit, losses)
    }

    /// What an item loses where it becomes a file, in words.
    private static func losses(of item: KeychainItem, _ keychain: KeychainStore) throws -> [String] {
        var losses: [String] = []
        let valueCount = try keychain.formerValueCount(of: item)
        if valueCount > 0 {
            let values = valueCount == 1 ? "1 former value is" : "\(valueCount) former values are"
            losses.append("a file has no history: \(values) gone")
        }
        let kept: Set<KeychainAttribute> = [.service, .account]
        let names =
            item.attributes.values.keys.filter { !kept.contains($0) }.map(\.rawValue)
            + item.attributes.user.keys
        if !names.isEmpty {
            let quoted = names.sorted().map { quotedForDisplay($0) }.joined(separator: ", ")
            losses.append(
                "a file has no attributes of a keychain item: \(quoted) \(names.count == 1 ? "is" : "are") gone"
            )
        }
        return losses
    }

    /// Replacing is writing: it wants the key of what is replaced.
    func checkReplacing(_ item: KeychainItem?) throws(CofferError) {
        let state = try vault.keys.state
        if let item, !item.accessibility.isAvailable(in: state) {
            throw .locked(quotedForDisplay(item.key.path), in: state, for: .write)
        }
    }

    /// A file has no access control: what has one is not made a file by the way.
    private func checkMoving(_ item: KeychainItem?) throws {
        guard let item, item.attributes.accessControl != nil else { return }
        throw CofferError(
            .param,
            "can't store \(quotedForDisplay(item.key.path)) as a file: the item has an access control, and files have none",
            hint: "remove it first, or choose another name"
        )
    }

    func checkReplacing(_ file: FileItem?) throws(CofferError) {
        let state = try vault.keys.state
        if let file, !file.protectionClass.permits(.write, in: state) {
            throw .locked(quotedForDisplay(file.path), in: state, for: .write)
        }
    }

    private var openFiles: FileStore? { vault.openCatalog?.files }
}

extension Server {
    /// Tells a client how far its transfer has come, ten times a second at most.
    func progressReport(
        _ isWanted: Bool,
        total: Int64?,
        _ transfer: Transfer
    ) -> @Sendable (Int64) -> Void {
        guard isWanted else { return { _ in } }
        let pace = Pace(configuration.clock)
        return { done in
            guard pace.isDue() else { return }
            self.loop.post { self.assumeIsolated { $0.sendProgress(done, of: total, transfer) } }
        }
    }
}

extension CofferError {
    /// The answer where the vault is not the one any more that the request was for.
    static let vaultIsGone = CofferError(.notAvailable, "the vault was erased meanwhile", operation: .write)
}

extension RoutingFacts.Size {
    /// The bytes, where they are known.
    fileprivate var count: Int64? {
        switch self {
        case .exactly(let count): count
        case .moreThan: nil
        }
    }
}

extension SecretBytes? {
    /// The bytes, or none.
    consuming func orEmpty() throws(CofferError) -> SecretBytes {
        switch consume self {
        case .some(let bytes): return bytes
        case .none: do { return try SecretBytes(zeros: 0) } catch { throw .noSecretMemory }
        }
    }
}

extension Protection {
    /// What the caller ought to know of the protection that an item gets.
    ///
    /// - Parameter said: What was asked for, where that was in the terms of the other store.
    func warnings(convertedFrom said: Protection?) -> [String] {
        var warnings: [String] = []
        if case .keychain(let accessibility) = self, accessibility.isDeprecated {
            warnings.append("\(accessibility.rawValue) is deprecated: the passcode does not protect the item")
        }
        if let said {
            warnings.append("\(said.name) is a protection of the \(said.store.rawValue) store: here it becomes \(name)")
        }
        return warnings
    }
}

extension Placement {
    /// - Parameter warnings: What the caller ought to know besides.
    init(_ verdict: Verdict, besides warnings: [String] = []) {
        self.init(
            protection: verdict.protection,
            rule: verdict.rule.rawValue,
            reason: verdict.reason,
            protectionSource: verdict.protectionSource.rawValue,
            signature: verdict.signature?.rawValue,
            warnings: verdict.protection.warnings(convertedFrom: verdict.convertedFrom) + warnings
        )
    }
}
