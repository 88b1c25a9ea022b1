internal import CofferChunks
internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
internal import CofferSystem
package import CofferVault
package import CofferWire
internal import Glibc

/// The content of a put, as far as it had to be read for routing.
private struct Intake: ~Copyable, Sendable {
    /// The bytes that were read, in locked memory.
    let prefix: SecretBytes
    /// The source of the other bytes; `nil` if all were read.
    let rest: PeerStream?

    /// Reads more from the source.
    ///
    /// - Parameter count: The total number of bytes to read.
    consuming func filled(to count: Int) throws(CofferError) -> Intake {
        if prefix.count >= count { return self }
        guard let stream = rest else { return Intake(prefix: prefix, rest: nil) }
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: count) } catch { throw .noSecretMemory }
        let firstCount = prefix.count
        prefix.withBytes { bytes.copy($0, to: 0) }
        let added: Int
        do throws(TransferError) {
            added = unsafe try bytes.withUnsafeMutableBytes { (buffer) throws(TransferError) in
                unsafe try stream.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[firstCount...]))
            }
        } catch {
            throw error.cofferError
        }
        bytes.truncate(to: firstCount + added)
        return firstCount + added < count ? Intake(prefix: bytes, rest: nil) : Intake(prefix: bytes, rest: stream)
    }

    /// The size of the content, as far as it is known.
    var size: RoutingFacts.Size {
        switch rest {
        case .none: return .exactly(Int64(prefix.count))
        case .some(let rest):
            let seen = Int64(prefix.count)
            return rest.remainingByteCount.map { .exactly(seen + $0) } ?? .moreThan(seen)
        }
    }
}

/// The target of a put in the file store, and what it replaces.
private struct FileTarget {
    let name: ItemName
    let group: String
    let kind: ItemKind?
    let decision: String
    /// The protection of the item that was stored when the put began.
    let replacing: Protection?
}

extension Vault {
    package func itemPut(_ params: ItemPutParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.wishes.group)
        let vaultID = try keys.vaultID
        let name = params.name
        call.isFor("can't store \(name.quoted)")
        let payload = try call.attachments.takePayload().orEmpty()
        guard let descriptor = try call.attachments.takeDescriptor() else {
            return try store(Intake(prefix: payload, rest: nil), params, in: group, call)
        }
        let stream = try PeerStream(descriptor, for: O_RDONLY, cancellation: try call.makeCancellation())
        return .work(with: Intake(prefix: payload, rest: stream)) { (intake) throws(CofferError) in
            try intake.filled(to: Limits.secretBytes + 1)
        } then: { intake in
            try call.checkSender()
            // A transfer takes time: meanwhile the vault may have been erased and a new one made.
            guard try self.keys.vaultID == vaultID else { throw CofferError.vaultIsGone }
            return try self.store(intake, params, in: group, call)
        }
    }

    private func store(
        _ intake: consuming Intake,
        _ params: ItemPutParameters,
        in group: String,
        _ call: Call
    ) throws -> Step {
        let before = try present(params.name, in: group)
        if params.isIfAbsent && before != nil { throw CofferError.existsAlready(params.name) }
        try params.checkAttributes()
        let replaced = before?.located?.qualifiedItem
        if replaced == nil { try checkCreatable(params.name, over: before) }
        let size = intake.size
        let verdict = try intake.prefix.withBytes { content in
            try route(
                params.name,
                in: group,
                over: before,
                params.wishes,
                content,
                size: size,
                for: call.caller.identity,
                entitled: call.caller.rights.protection
            )
        }
        if let before, before.isSealed, before.protection.store != verdict.store {
            // What the item would take along into the other store can't be opened.
            throw CofferError.locked(params.name.quoted, in: try keys.state, for: .write)
        }
        switch verdict.protection {
        case .keychain(let accessibility):
            let context = call.caller.context
            if let replaced {
                try replaceSecret(of: replaced, by: intake.prefix, params, accessibility, context)
                return .done(Reply(Placement(verdict, replacing: before?.protection)))
            }
            try putInKeychain(params, intake.prefix, accessibility, verdict.decision, group, over: before, context)
            return .done(Reply(Placement(verdict, replacing: before?.protection)))
        case .file(let protectionClass):
            if let replaced { throw CofferError.noFile(replaced) }
            guard params.attributes.isEmpty && params.user.isEmpty else { throw CofferError.noAttributes(params.name) }
            let target = FileTarget(
                name: params.name,
                group: group,
                kind: params.wishes.kind ?? before?.kind,
                decision: verdict.decision,
                replacing: before?.protection
            )
            return try putInFileStore(target, intake, protectionClass, params.wantsProgress, call) {
                Reply(Placement(verdict, replacing: before?.protection))
            }
        }
    }

    /// Routes an item.
    ///
    /// - Parameters:
    ///   - name: Its name, if it has one.
    ///   - group: Its access group.
    ///   - existing: The item that is stored under the name.
    ///   - wishes: The wishes of the caller.
    ///   - content: Its first bytes.
    ///   - size: Its size.
    ///   - client: The client that stores it.
    ///   - entitled: The protection that the client's entitlement prescribes.
    func route(
        _ name: ItemName?,
        in group: String,
        over existing: Present?,
        _ wishes: PlacementOptions,
        _ content: RawSpan,
        size: RoutingFacts.Size,
        for client: ClientIdentity,
        entitled: Protection?
    ) throws -> Verdict {
        let surroundings = try name.map { try catalog.files.surroundings(of: $0, in: group) }
        let verdict = try Routing.route(
            RoutingFacts(
                content,
                size: size,
                wishes,
                formerKind: existing?.kind,
                isInDirectory: surroundings?.isInMadeDirectory ?? false
            ),
            wishes: RoutingWishes(
                store: wishes.store,
                protectionClass: wishes.protectionClass,
                accessibility: wishes.accessibility,
                existing: existing?.protection,
                directory: surroundings?.defaultClass,
                entitled: entitled,
                configured: routing.protection(of: name, from: client)
            ),
            bounds: routing.bounds
        )
        // Before the first unlock, a small put over a file of class B does not make a deposit of it.
        guard let existing, existing.isSealed, existing.protection == .file(.completeUnlessOpen),
            verdict.protection == .keychain(.whenUnlockedDeposit)
        else { return verdict }
        return verdict.staying(as: existing.protection)
    }

    /// Refuses to make an item of a name that means one of another kind.
    private func checkCreatable(_ name: ItemName, over existing: Present?) throws(CofferError) {
        guard existing == nil, let qualified = QualifiedName(name) else { return }
        throw CofferError(
            .param,
            "there is no item \(name.quoted), and a put makes none: this is the name of \(qualified.kindInWords)",
            hint: "choose a name that does not begin so, or make the item with 'coffer keychain add'"
        )
    }

    /// Replaces the secret of a keychain item whose name is no path.
    private func replaceSecret(
        of item: KeychainItem,
        by secret: consuming SecretBytes,
        _ params: ItemPutParameters,
        _ accessibility: Accessibility,
        _ context: AuthenticationContext
    ) throws {
        try NewItem.checkReplaceable(item)
        let catalog = try catalog
        let secret: SecretBytes? = consume secret
        try catalog.change { changes in
            try catalog.keychain.update(
                item,
                to: item.attributes.changed(by: params.change, group: nil),
                secret: secret,
                accessibility: accessibility,
                now: wallClockMilliseconds(),
                with: context
            )
            changes.note(ItemChange(.changed, item))
        }
    }

    /// - Parameter before: What this step has found under the name, which is in one store at a time.
    private func putInKeychain(
        _ params: ItemPutParameters,
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ decision: String,
        _ group: String,
        over before: Present?,
        _ context: AuthenticationContext
    ) throws {
        let key = GenericPasswordKey(params.name, in: group)
        let (catalog, replaced) = (try catalog, before?.located?.item)
        try catalog.change { changes in
            if before == nil { try checkNoDirectory(params.name, in: group, catalog) }
            let file = replaced?.file
            try checkReplacing(file.map(StoredItem.file))
            let id = try catalog.keychain.put(
                key,
                over: replaced?.secret,
                secret: secret,
                accessibility: accessibility,
                kind: params.wishes.kind ?? file?.kind,
                created: file?.created,
                decision: decision,
                change: params.change,
                kept: file?.metadata.keptItem ?? [],
                now: wallClockMilliseconds(),
                with: context
            )
            if let file { try catalog.files.remove(file, now: wallClockMilliseconds()) }
            changes.note(ItemChange(before == nil ? .added : .changed, id, ItemAttributes(key)))
        }
    }

    private func putInFileStore(
        _ target: FileTarget,
        _ intake: consuming Intake,
        _ protectionClass: ProtectionClass,
        _ wantsProgress: Bool,
        _ call: Call,
        _ reply: @escaping () -> Reply
    ) throws -> Step {
        let vaultID = try keys.vaultID
        _ = try secret(toReplace: target)
        let write = try catalog.files.prepareWrite(target.name, in: target.group, as: protectionClass)
        call.atEnd { self.openCatalog?.files.finished(write) }
        write.endOnLock(try call.makeCancellation())
        let report = call.progressReport(wantsProgress, total: intake.size.count)
        return .work(with: intake) { (intake) throws(CofferError) in
            try write.perform(prefix: intake.prefix, rest: intake.rest, progress: report)
        } then: { byteCount in
            do {
                try call.checkSender()
                guard try self.keys.vaultID == vaultID else { throw CofferError.vaultIsGone }
                try self.commit(write, byteCount, target)
                return .done(reply())
            } catch {
                self.openCatalog?.files.discard(write)
                throw error
            }
        }
    }

    private func commit(_ write: ContentWrite, _ byteCount: Int64, _ target: FileTarget) throws {
        // The content was sealed under the class that was right when the transfer began. If another client has stored
        // an item with another protection meanwhile, that item stays.
        let replaced = try present(target.name, in: target.group)
        guard replaced?.protection == target.replacing else {
            throw CofferError(
                .duplicateItem,
                "can't store \(target.name.quoted): another client has changed it meanwhile",
                hint: "repeat the command, if it still is to be replaced"
            )
        }
        let catalog = try catalog
        let now = wallClockMilliseconds()
        try catalog.change { changes in
            let item = try secret(toReplace: target)
            let inode = try catalog.files.commit(
                write,
                at: target.name,
                in: target.group,
                byteCount: byteCount,
                kind: target.kind,
                created: item?.created,
                decision: target.decision,
                keptItem: try item.map { try catalog.keychain.setAside($0, now: now) },
                now: now
            )
            let kind = replaced == nil ? ItemChange.Kind.added : .changed
            changes.note(ItemChange(kind, file: target.name, in: target.group, inode: inode))
        }
    }

    /// The keychain item that a file is going to replace; `nil` if there is none.
    ///
    /// - Throws: If its key is not available, or it has an access control, which files don't have.
    private func secret(toReplace target: FileTarget) throws -> KeychainItem? {
        let key = GenericPasswordKey(target.name, in: target.group)
        guard let item = try catalog.keychain.find(key) else { return nil }
        try checkReplacing(.keychain(item))
        guard item.attributes.accessControl == nil else {
            throw CofferError(
                .param,
                "can't store \(quotedForDisplay(item.key.path)) as a file: the item has an access control, and files have none",
                hint: "remove it first, or choose another name"
            )
        }
        return item
    }
}

extension Vault.Located {
    /// The keychain item, if its name is no path.
    fileprivate var qualifiedItem: KeychainItem? {
        if case .keychain(let item) = item, item.attributes.name == nil { item } else { nil }
    }
}

extension QualifiedName {
    /// What it names, with an article.
    fileprivate var kindInWords: String {
        switch self {
        case .login: "a login at a server"
        case .labelled(.certificate, _): "a certificate"
        case .labelled(.key, _): "a key"
        case .labelled: "a password with a label"
        case .reference: "an item that exists"
        }
    }
}

extension ItemPutParameters {
    /// The attributes as a change of an item.
    fileprivate var change: KeychainChange { KeychainChange(attributes: attributes, user: user) }

    /// Refuses attributes that are parts of the name, or that a put can't set.
    fileprivate func checkAttributes() throws(CofferError) {
        try NewItem.check(attributes, of: .genericPassword)
        for attribute in [KeychainAttribute.service, .account, .accessGroup, .synchronizable]
        where attributes[attribute] != nil {
            throw CofferError(
                .param,
                "parameter 'attributes': '\(attribute.rawValue)' is not for a put",
                hint: "the name, and 'group', say which item it is"
            )
        }
    }
}

extension CofferError {
    fileprivate static func existsAlready(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "there is an item \(name.quoted) already, and it stays as it is",
            hint: "without --if-absent, it is replaced",
            operation: .create
        )
    }

    fileprivate static func noAttributes(_ name: ItemName) -> CofferError {
        CofferError(
            .param,
            "\(name.quoted) would be a file, and a file has no expiry, comment or other attribute",
            hint: "leave the attributes out, or store up to \(Limits.secretBytes) bytes with '--store keychain'"
        )
    }

    fileprivate static func noFile(_ item: KeychainItem) -> CofferError {
        CofferError(
            .dataTooLarge,
            "can't store \(quotedForDisplay(item.listedName)) as a file: it is in the keychain, and keeps its attributes there",
            hint: "a secret of the keychain has at most \(Limits.secretBytes) bytes"
        )
    }
}

extension RoutingFacts.Size {
    /// The number of bytes, if it is known.
    fileprivate var count: Int64? {
        if case .exactly(let count) = self { count } else { nil }
    }
}

extension Protection {
    /// The warnings about the protection that an item gets.
    ///
    /// - Parameter said: The protection that the client asked for, if it is one of the other store.
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
    /// Describes what was decided.
    ///
    /// - Parameters:
    ///   - verdict: The decision.
    ///   - former: The protection of the item that is replaced, if there is one.
    init(_ verdict: Verdict, replacing former: Protection? = nil) {
        // What the caller has not named does not surprise it.
        let isNamed = verdict.protectionSource == .caller
        var warnings = isNamed ? verdict.protection.warnings(convertedFrom: verdict.convertedFrom) : []
        if let former, former != verdict.protection, former.converted(to: verdict.store) != verdict.protection {
            warnings.append("it was \(former.name) before, and is \(verdict.protection.name) now")
        }
        self.init(
            protection: verdict.protection,
            rule: verdict.rule.rawValue,
            reason: verdict.reason,
            protectionSource: verdict.protectionSource.rawValue,
            signature: verdict.signature?.rawValue,
            warnings: warnings
        )
    }
}
