internal import CofferAccess
internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
internal import CofferSystem
internal import CofferWire
internal import Glibc

/// An item of the one namespace, in whichever store it is.
enum StoredItem {
    case keychain(KeychainItem)
    case file(FileItem)
}

extension Server {
    /// Finds an item, in every state of the vault.
    ///
    /// One name is in one store at a time.
    func stored(_ name: ItemName, in group: String) throws(CofferError) -> Located? {
        do {
            let catalog = try vault.catalog
            let state = try vault.keys.state
            if let item = try catalog.secret(named: name, in: group) {
                return Located(item: .keychain(item), info: ItemInfo(item, in: state))
            }
            return try catalog.files.find(name, in: group).map { file in
                Located(item: .file(file), info: ItemInfo(file, in: state))
            }
        } catch {
            throw .init(mapping: error, "can't look for \(name.quoted)")
        }
    }

    /// An item, and how it is shown.
    struct Located {
        let item: StoredItem
        let info: ItemInfo
    }

    /// Finds an item that has to be there.
    func require(_ name: ItemName, in group: String) throws(CofferError) -> Located {
        if let located = try stored(name, in: group) { return located }
        throw .notFound(name)
    }

    // MARK: Reading

    /// A secret comes back at once; a file is streamed to the descriptor that was passed, or comes back if it is small.
    ///
    /// - Parameters:
    ///   - lease: The lease that allows it, if one does: it is for the item that it was granted for, and for no other.
    ///   - commit: What has to be on the disk before anything of a file is given out; an answer at once waits for the end of
    ///     the turn by itself.
    func getItem(
        _ params: ItemGetParameters,
        _ attachments: Attachments,
        in group: String,
        _ context: AuthenticationContext,
        under lease: LeaseTerms? = nil,
        after commit: PendingCommit? = nil
    ) throws(CofferError) -> Answer {
        let descriptor = try attachments.takeDescriptor()
        try attachments.refuseLeftovers(of: .itemGet)
        do {
            let catalog = try vault.catalog
            let key = GenericPasswordKey(params.name, in: group)
            if try !catalog.isOnlyFile(params.name, in: group),
                let opened = try catalog.keychain.open(key, with: context)
            {
                let item = opened.item
                var reply = try Self.secretReply(opened.takeSecret(), params, item.accessibility)
                reply.isCommitted = commit == nil && catalog.isCommitted(item, named: params.name)
                return .now(reply)
            }
            guard let file = try catalog.files.find(params.name, in: group) else {
                throw CofferError.notFound(params.name)
            }
            if catalog.files.hasChunks(file) {
                return .later(
                    try getThroughHandle(file, params, in: group, to: descriptor, under: lease, after: commit)
                )
            }
            let range = try Self.range(params, in: file.byteCount)
            let read = try catalog.files.prepareRead(file)
            switch consume descriptor {
            case .some(let descriptor):
                return .later(stream(read, range, to: descriptor, params.wantsProgress, after: commit))
            case .none: return .later(try deliver(read, range, params.name, after: commit))
            }
        } catch {
            throw .init(mapping: error, "can't read \(params.name.quoted)")
        }
    }

    private static func secretReply(
        _ secret: consuming SecretBytes,
        _ params: ItemGetParameters,
        _ accessibility: Accessibility
    ) throws(CofferError) -> Reply {
        let range = try range(params, in: Int64(secret.count))
        let part: SecretBytes
        if range.count == secret.count {
            part = secret
        } else {
            do {
                part = try secret.withBytes { (bytes) throws(SecretMemoryError) in
                    try SecretBytes(copying: bytes.extracting(Int(range.lowerBound)..<Int(range.upperBound)))
                }
            } catch {
                throw .noSecretMemory
            }
        }
        let result = ItemGetResult(store: .keychain, byteCount: Int64(part.count), delivery: .payload)
        return Reply(result, payload: part, protection: .keychain(accessibility))
    }

    /// The part of an item's bytes that is asked for.
    static func range(_ params: ItemGetParameters, in count: Int64) throws(CofferError) -> Range<Int64> {
        let start = params.offset ?? 0
        guard start <= count else {
            throw CofferError(.param, "the range begins at \(start), and \(params.name.quoted) has \(count) bytes")
        }
        return start..<min(count, start + (params.length ?? count))
    }

    private func stream(
        _ read: ContentRead,
        _ range: Range<Int64>,
        to descriptor: consuming OwnedDescriptor,
        _ wantsProgress: Bool,
        after commit: PendingCommit?
    ) -> Work {
        let handoff = Handoff(descriptor)
        return { (transfer) async throws(CofferError) in
            defer { self.vault.openCatalog?.files.finished(read) }
            try await commit?.wait()
            let cancellation = try self.makeCancellation(for: transfer)
            read.endOnLock(cancellation)
            let report = self.progressReport(wantsProgress, total: Int64(range.count), transfer)
            try await self.workers.run(for: transfer.tenant) { () throws(CofferError) in
                guard let descriptor = handoff.take() else { return }
                let output = try PeerStream(descriptor, for: O_WRONLY, cancellation: cancellation)
                try read.perform(range, to: SharedStream(output), progress: report)
            }
            return Reply(ItemGetResult(store: .file, byteCount: Int64(range.count), delivery: .descriptor))
        }
    }

    private func deliver(
        _ read: ContentRead,
        _ range: Range<Int64>,
        _ name: ItemName,
        after commit: PendingCommit?
    ) throws(CofferError) -> Work {
        guard range.count <= Limits.framePayloadBytes else {
            vault.openCatalog?.files.finished(read)
            throw CofferError(
                .dataTooLarge,
                "\(name.quoted) has \(range.count) bytes, and a reply carries \(Limits.framePayloadBytes) at most",
                hint: "pass a descriptor to write it to, or ask for a range"
            )
        }
        return { (transfer) async throws(CofferError) in
            defer { self.vault.openCatalog?.files.finished(read) }
            try await commit?.wait()
            let content: SecretBytes
            // Another thread costs more than opening a chunk.
            if let cached = try read.collectIfCached(range) {
                content = cached
            } else {
                content = try await self.workers.run(for: transfer.tenant) { () throws(CofferError) in
                    try read.collect(range)
                }
            }
            let result = ItemGetResult(store: .file, byteCount: Int64(content.count), delivery: .payload)
            // Its class may be another one than when the read began.
            let protectionClass = self.vault.openCatalog?.files.protectionClass(of: read) ?? read.protectionClass
            return Reply(result, payload: content, protection: .file(protectionClass))
        }
    }

    func showItem(_ params: ItemShowParameters, in group: String) throws(CofferError) -> Reply {
        let located = try require(params.name, in: group)
        var reply = Reply(located.info)
        if case .keychain(let item) = located.item {
            reply.isCommitted = try vault.catalog.isCommitted(item, named: params.name)
        }
        return reply
    }

    /// One page of both stores together, in the catalog's order.
    func listItems(_ params: ItemListParameters, from caller: Caller) throws(CofferError) -> Answer {
        try perform(try ItemListing(params, in: try caller.group(nil), try vault.keys), for: caller)
    }

    // MARK: Changing

    func removeItem(_ params: ItemRemoveParameters, from caller: Caller) throws(CofferError) -> Empty {
        let group = try caller.group(nil)
        let located = try require(params.name, in: group)
        do {
            let catalog = try vault.catalog
            try catalog.change(isRemoval: true) { changes in
                switch located.item {
                case .keychain(let item): _ = try catalog.keychain.remove(item.key, with: caller.context)
                case .file(let file): try catalog.files.remove(file)
                }
                changes.note(located.item.change(.removed))
            }
        } catch {
            throw .init(mapping: error, "can't remove \(params.name.quoted)")
        }
        return Empty()
    }
}

extension ItemInfo {
    init(_ item: KeychainItem, in state: VaultState) {
        self.init(
            name: item.key.path,
            protection: .keychain(item.accessibility),
            byteCount: Int64(item.secretByteCount),
            kind: item.kind,
            created: item.created,
            modified: item.modified,
            isReadable: item.accessibility.isAvailable(in: state),
            expiryDate: item.expiryDate,
            isExpired: item.isExpired
        )
    }

    init(_ file: FileItem, in state: VaultState) {
        self.init(
            name: file.path,
            protection: .file(file.protectionClass),
            byteCount: file.byteCount,
            kind: file.kind,
            created: file.created,
            modified: file.modified,
            isReadable: file.protectionClass.permits(.read, in: state)
        )
    }
}

extension KeychainItem {
    /// Until when it is good, in milliseconds since 1970.
    fileprivate var expiryDate: Int64? {
        if case .date(let date) = attributes.values[.expiryDate] { date } else { nil }
    }

    /// Whether that is past.
    var isExpired: Bool { expiryDate.map { $0 < wallClockMilliseconds() } ?? false }
}

extension CofferError {
    fileprivate static func notFound(_ name: ItemName) -> CofferError {
        CofferError(.itemNotFound, "there is no item \(name.quoted)", hint: "'coffer list' shows what there is")
    }
}
