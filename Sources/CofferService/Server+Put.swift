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

    var looksStructured: Bool {
        rest == nil && prefix.count <= Rule.structuredBytes && prefix.withBytes { CofferRouting.looksStructured($0) }
    }
}

extension Server {
    /// Stores an item where the matrix says.
    func putItem(
        _ params: PutParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Work {
        let group = try caller.group(params.wishes.group)
        return { (transfer) async throws(CofferError) in
            let cancellation = try self.makeCancellation(for: transfer)
            let intake = try await self.take(attachments, cancellation)
            let verdict = try self.route(params.name, params.wishes, intake.size, intake.looksStructured, group)
            switch verdict.protection {
            case .keychain(let accessibility):
                try self.putInKeychain(params, intake.prefix, accessibility, group)
            case .file(let protectionClass):
                try await self.putInFileStore(params, intake, protectionClass, group, transfer)
            }
            return Reply(Placement(verdict))
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

    /// Reads of a descriptor as much as a keychain item may have, and one byte more: then its place is decided, and no more
    /// of it has to be held in memory.
    private func take(
        _ attachments: Attachments,
        _ cancellation: Cancellation
    ) async throws(CofferError) -> Intake {
        let payload = attachments.takePayload()
        let stream: PeerStream?
        switch attachments.takeDescriptor() {
        case .none: stream = nil
        case .some(let descriptor): stream = try PeerStream(descriptor, for: O_RDONLY, cancellation: cancellation)
        }
        guard let stream else { return Intake(prefix: try payload.orEmpty(), rest: nil) }
        let wanted = Limits.secretBytes + 1
        if payload.byteCount >= wanted { return Intake(prefix: try payload.orEmpty(), rest: stream) }
        let first = try payload.orEmpty()
        let handoff = StreamHandoff(stream)
        let prefix = try await workers.run { () throws(CofferError) in
            try handoff.readOn(from: first, upTo: wanted)
        }
        let isComplete = prefix.count < wanted
        return Intake(prefix: prefix, rest: isComplete ? nil : handoff.take())
    }

    /// What the matrix says of an item, the one that is stored under the name considered.
    func route(
        _ name: ItemName?,
        _ wishes: ItemWishes,
        _ size: RoutingFacts.Size,
        _ looksStructured: Bool,
        _ group: String
    ) throws(CofferError) -> Verdict {
        let facts = RoutingFacts(
            kind: wishes.kind,
            size: size,
            isDeclaredStructured: wishes.isStructured,
            looksStructured: looksStructured,
            isPresentedAsFile: wishes.isPresentedAsFile,
            scenario: wishes.scenario
        )
        let routingWishes = RoutingWishes(
            store: wishes.store,
            protectionClass: wishes.protectionClass,
            accessibility: wishes.accessibility,
            existing: try name.flatMap { (name) throws(CofferError) in try stored(name, in: group)?.info.protection }
        )
        return try Routing.route(facts, wishes: routingWishes)
    }

    private func putInKeychain(
        _ params: PutParameters,
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ group: String
    ) throws(CofferError) {
        let key = GenericPasswordKey(params.name, in: group)
        let now = wallClockMilliseconds()
        do {
            let catalog = try vault.catalog
            try catalog.change {
                let file = try catalog.files.find(params.name, in: group)
                try checkReplacing(file)
                try catalog.keychain.put(
                    key,
                    secret: secret,
                    accessibility: accessibility,
                    kind: params.wishes.kind ?? file?.kind,
                    created: file?.created,
                    now: now
                )
                if let file { try catalog.files.remove(file) }
            }
        } catch {
            throw .init(mapping: error, "can't store \(params.name.quoted)")
        }
    }

    private func putInFileStore(
        _ params: PutParameters,
        _ intake: consuming Intake,
        _ protectionClass: ProtectionClass,
        _ group: String,
        _ transfer: Transfer
    ) async throws(CofferError) {
        let write: ContentWrite
        do {
            try checkReplacing(try vault.catalog.keychain.find(GenericPasswordKey(params.name, in: group)))
            write = try vault.catalog.files.prepareWrite(params.name, in: group, as: protectionClass)
        } catch {
            throw .init(mapping: error, "can't store \(params.name.quoted)")
        }
        defer { openFiles?.finished(write) }
        let report = progressReport(params.wantsProgress, total: intake.size.count, transfer)
        let content = intake
        let byteCount = try await workers.run { () throws(CofferError) in
            try write.perform(prefix: content.prefix, rest: content.rest, progress: report)
        }
        do {
            try commit(write, byteCount, params, group)
        } catch {
            openFiles?.discard(write)
            throw .init(mapping: error, "can't store \(params.name.quoted)")
        }
    }

    private func commit(_ write: ContentWrite, _ byteCount: Int64, _ params: PutParameters, _ group: String) throws {
        let catalog = try vault.catalog
        let key = GenericPasswordKey(params.name, in: group)
        try catalog.change {
            let item = try catalog.keychain.find(key)
            try checkReplacing(item)
            if item != nil { _ = try catalog.keychain.remove(key) }
            try catalog.files.commit(
                write,
                at: params.name,
                in: group,
                byteCount: byteCount,
                kind: params.wishes.kind ?? item?.kind,
                created: item?.created,
                now: wallClockMilliseconds()
            )
        }
    }

    /// Replacing is writing: it wants the key of what is replaced.
    private func checkReplacing(_ item: KeychainItem?) throws(CofferError) {
        let state = try vault.keys.state
        if let item, !item.accessibility.isAvailable(in: state) {
            throw .locked(quotedForDisplay(item.key.path), in: state, for: .write)
        }
    }

    private func checkReplacing(_ file: FileItem?) throws(CofferError) {
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
            Task { await self.sendProgress(done, of: total, transfer) }
        }
    }
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
    fileprivate consuming func orEmpty() throws(CofferError) -> SecretBytes {
        switch consume self {
        case .some(let bytes): return bytes
        case .none: do { return try SecretBytes(zeros: 0) } catch { throw .noSecretMemory }
        }
    }
}

extension Placement {
    init(_ verdict: Verdict) {
        var warnings: [String] = []
        if case .keychain(let accessibility) = verdict.protection, accessibility.isDeprecated {
            warnings.append("\(accessibility.rawValue) is deprecated: the passcode does not protect the item")
        }
        if let said = verdict.convertedFrom {
            warnings.append(
                "\(said.name) is a protection of the \(said.store.rawValue) store: here it becomes \(verdict.protection.name)"
            )
        }
        self.init(
            protection: verdict.protection,
            rule: verdict.rule.rawValue,
            reason: verdict.reason,
            protectionSource: verdict.protectionSource.rawValue,
            warnings: warnings
        )
    }
}
