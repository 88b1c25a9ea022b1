internal import CofferAccess
package import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
internal import CofferSystem
package import CofferWire
internal import Glibc

/// An item of the one namespace, in either store.
enum StoredItem {
    case keychain(KeychainItem)
    case file(FileItem)
}

extension Vault {
    /// Finds an item, in every state of the vault.
    ///
    /// A name is in one store at a time.
    func stored(_ name: ItemName, in group: String) throws(CofferError) -> Located? {
        do {
            let catalog = try catalog
            let state = try keys.state
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

    /// An item, and its description for clients.
    struct Located {
        let item: StoredItem
        let info: ItemInfo
    }

    /// Finds an item, or throws that there is none.
    func require(_ name: ItemName, in group: String) throws(CofferError) -> Located {
        if let located = try stored(name, in: group) { return located }
        throw .notFound(name)
    }

    package func info(of name: ItemName, in group: String) throws(CofferError) -> ItemInfo {
        try require(name, in: group).info
    }

    // MARK: Reading

    package func itemGet(_ params: ItemGetParameters, _ call: Call) throws(CofferError) -> Step {
        try getItem(params, in: try call.caller.group(nil), call)
    }

    /// Reads an item, or a part of it.
    ///
    /// - Parameters:
    ///   - group: Its access group.
    ///   - lease: The lease that permits it, if one does: its use is committed before a byte is sent.
    func getItem(
        _ params: ItemGetParameters,
        in group: String,
        under lease: LeaseTerms? = nil,
        _ call: Call
    ) throws(CofferError) -> Step {
        let descriptor = try call.attachments.takeDescriptor()
        try call.attachments.refuseLeftovers(of: .itemGet)
        do {
            let catalog = try catalog
            let key = GenericPasswordKey(params.name, in: group)
            if try !catalog.isOnlyFile(params.name, in: group),
                let opened = try catalog.keychain.open(key, with: call.caller.context)
            {
                let item = opened.item
                return .done(try Self.secretReply(opened.takeSecret(), params, item.accessibility))
            }
            guard let file = try catalog.files.find(params.name, in: group) else {
                throw CofferError.notFound(params.name)
            }
            let output = Held(descriptor)
            if catalog.files.hasChunks(file) {
                return try after(lease) { try self.getInParts(file, params, in: group, to: output, under: lease, call) }
            }
            let range = try Self.range(params, in: file.byteCount)
            let read = try catalog.files.prepareRead(file)
            call.atEnd { self.openCatalog?.files.finished(read) }
            return try after(lease) {
                guard let descriptor = output.take() else { return try self.deliver(read, range, params.name) }
                return try self.stream(read, range, to: descriptor, params.wantsProgress, call)
            }
        } catch {
            throw .init(mapping: error, "can't read \(params.name.quoted)")
        }
    }

    /// Continues after the commit that counts the use of a lease.
    private func after(_ lease: LeaseTerms?, _ next: @escaping Step.Next) throws -> Step {
        lease == nil ? try next() : .committed(next)
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

    /// The requested part of an item's bytes.
    static func range(_ params: ItemGetParameters, in count: Int64) throws(CofferError) -> Range<Int64> {
        let start = params.offset ?? 0
        guard start <= count else {
            throw CofferError(.param, "the range begins at \(start), and \(params.name.quoted) has \(count) bytes")
        }
        return start..<min(count, start + (params.length ?? count))
    }

    /// Writes the content to a descriptor.
    private func stream(
        _ read: ContentRead,
        _ range: Range<Int64>,
        to descriptor: consuming OwnedDescriptor,
        _ wantsProgress: Bool,
        _ call: Call
    ) throws(CofferError) -> Step {
        let cancellation = try call.makeCancellation()
        read.endOnLock(cancellation)
        let report = call.progressReport(wantsProgress, total: Int64(range.count))
        return .work(with: descriptor) { (descriptor) throws(CofferError) in
            let output = try PeerStream(descriptor, for: O_WRONLY, cancellation: cancellation)
            try read.perform(range, to: output, progress: report)
        } then: { _ in
            .done(Reply(ItemGetResult(store: .file, byteCount: Int64(range.count), delivery: .descriptor)))
        }
    }

    /// Sends the content with the reply.
    private func deliver(
        _ read: ContentRead,
        _ range: Range<Int64>,
        _ name: ItemName
    ) throws(CofferError) -> Step {
        try Self.checkFits(range, name)
        // A switch of threads costs more than opening a chunk.
        if let cached = try read.collectIfCached(range) { return reply(with: cached, of: read) }
        return .work(with: ()) { (_) throws(CofferError) in
            try read.collect(range)
        } then: { content in
            self.reply(with: content, of: read)
        }
    }

    private func reply(with content: consuming SecretBytes, of read: ContentRead) -> Step {
        let result = ItemGetResult(store: .file, byteCount: Int64(content.count), delivery: .payload)
        // Its class may have changed since the read began.
        let protectionClass = openCatalog?.files.protectionClass(of: read) ?? read.protectionClass
        return .done(Reply(result, payload: content, protection: .file(protectionClass)))
    }

    static func checkFits(_ range: Range<Int64>, _ name: ItemName) throws(CofferError) {
        if range.count <= Limits.framePayloadBytes { return }
        throw CofferError(
            .dataTooLarge,
            "\(name.quoted) has \(range.count) bytes, and a reply carries \(Limits.framePayloadBytes) at most",
            hint: "pass a descriptor to write it to, or ask for a range"
        )
    }

    package func itemShow(_ params: ItemShowParameters, _ call: Call) throws(CofferError) -> Step {
        try showItem(params, in: try call.caller.group(nil))
    }

    func showItem(_ params: ItemShowParameters, in group: String) throws(CofferError) -> Step {
        .done(Reply(try require(params.name, in: group).info))
    }

    package func itemList(_ params: ItemListParameters, _ call: Call) throws(CofferError) -> Step {
        try perform(try ItemListing(params, in: try call.caller.group(nil), try keys), call)
    }

    // MARK: Changing

    package func itemRemove(_ params: ItemRemoveParameters, _ call: Call) throws(CofferError) -> Step {
        let group = try call.caller.group(nil)
        let located = try require(params.name, in: group)
        do {
            let catalog = try catalog
            try catalog.change(isRemoval: true) { changes in
                switch located.item {
                case .keychain(let item): _ = try catalog.keychain.remove(item.key, with: call.caller.context)
                case .file(let file): try catalog.files.remove(file)
                }
                changes.note(located.item.change(.removed))
            }
        } catch {
            throw .init(mapping: error, "can't remove \(params.name.quoted)")
        }
        return .done
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
    /// The expiry date, in milliseconds since 1970.
    fileprivate var expiryDate: Int64? {
        if case .date(let date) = attributes.values[.expiryDate] { date } else { nil }
    }

    var isExpired: Bool { expiryDate.map { $0 < wallClockMilliseconds() } ?? false }
}

extension CofferError {
    fileprivate static func notFound(_ name: ItemName) -> CofferError {
        CofferError(.itemNotFound, "there is no item \(name.quoted)", hint: "'coffer list' shows what there is")
    }
}
