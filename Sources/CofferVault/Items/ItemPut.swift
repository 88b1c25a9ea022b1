package import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
internal import CofferSystem
package import CofferWire
internal import Glibc

/// The content of a put, as far as it had to be read for routing.
private struct Intake: ~Copyable, Sendable {
    /// The bytes that were read, in locked memory.
    let prefix: SecretBytes
    /// The source of the other bytes; `nil` if all were read.
    let rest: PeerStream?

    init(prefix: consuming SecretBytes, rest: PeerStream?) {
        self.prefix = prefix
        self.rest = rest
    }

    /// Reads more from the source.
    ///
    /// - Parameter count: The total number of bytes to read.
    consuming func filled(to count: Int) throws(CofferError) -> Intake {
        if prefix.count >= count { return self }
        guard let stream = rest else { return Intake(prefix: prefix, rest: nil) }
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: count) } catch { throw .noSecretMemory }
        let firstCount = prefix.count
        prefix.withBytes { source in
            unsafe bytes.withUnsafeMutableBytes { target in
                unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
            }
        }
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

    /// What the routing matrix uses.
    var facts: ContentFacts {
        prefix.withBytes { ContentFacts($0, size: size) }
    }
}

/// The facts about a content that routing uses.
struct ContentFacts {
    let size: RoutingFacts.Size
    let looksStructured: Bool
    let signature: ContentSignature?

    /// Inspects a content.
    ///
    /// - Parameters:
    ///   - prefix: Its first bytes.
    ///   - size: Its total size.
    init(_ prefix: RawSpan, size: RoutingFacts.Size) {
        let isWhole = size == .exactly(Int64(prefix.byteCount))
        self.size = size
        looksStructured = isWhole && CofferRouting.looksStructured(prefix)
        signature = ContentSignature(of: prefix, isWhole: isWhole)
    }

    /// The facts of a content of which only the size is known.
    init(size: RoutingFacts.Size) {
        self.size = size
        looksStructured = false
        signature = nil
    }
}

/// The target of a put in the file store, and what it replaces.
private struct FileTarget {
    let name: ItemName
    let group: String
    let kind: ItemKind?
    /// The protection of the item that was stored when the put began.
    let replacing: Protection?

    var key: GenericPasswordKey { GenericPasswordKey(name, in: group) }
}

extension Vault {
    package func itemPut(_ params: ItemPutParameters, _ call: Call) throws(CofferError) -> Step {
        let group = try call.caller.group(params.wishes.group)
        let vaultID = try keys.vaultID
        call.subject = "can't store \(params.name.quoted)"
        let payload = call.attachments.takePayload()
        guard let descriptor = try call.attachments.takeDescriptor() else {
            return try store(Intake(prefix: try payload.orEmpty(), rest: nil), params, in: group, call)
        }
        let stream = try PeerStream(descriptor, for: O_RDONLY, cancellation: try call.makeCancellation())
        return .work(with: Intake(prefix: try payload.orEmpty(), rest: stream)) { (intake) throws(CofferError) in
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
    ) throws(CofferError) -> Step {
        let before = try stored(params.name, in: group)?.info
        var wishes = params.wishes
        wishes.kind = wishes.kind ?? before?.kind
        let verdict = try route(
            params.name,
            in: group,
            over: before,
            wishes,
            intake.facts,
            for: call.caller.identity,
            entitled: call.caller.rights.protection
        )
        switch verdict.protection {
        case .keychain(let accessibility):
            try putInKeychain(params, intake.prefix, accessibility, group, call.caller.context)
            return .done(Reply(Placement(verdict)))
        case .file(let protectionClass):
            let target = FileTarget(
                name: params.name,
                group: group,
                kind: wishes.kind,
                replacing: before?.protection
            )
            return try putInFileStore(target, intake, protectionClass, params.wantsProgress, call) { losses in
                Reply(Placement(verdict, besides: losses))
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
    ///   - content: The facts about its content.
    ///   - client: The client that stores it.
    ///   - entitled: The protection that the client's entitlement prescribes.
    func route(
        _ name: ItemName?,
        in group: String,
        over existing: ItemInfo?,
        _ wishes: PlacementOptions,
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
                configured: routing.protection(of: name, from: client)
            ),
            bounds: routing.bounds
        )
    }

    private func putInKeychain(
        _ params: ItemPutParameters,
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ group: String,
        _ context: AuthenticationContext
    ) throws(CofferError) {
        let key = GenericPasswordKey(params.name, in: group)
        let now = wallClockMilliseconds()
        do {
            let catalog = try catalog
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
        } catch {
            throw .init(mapping: error, "can't store \(params.name.quoted)")
        }
    }

    private func putInFileStore(
        _ target: FileTarget,
        _ intake: consuming Intake,
        _ protectionClass: ProtectionClass,
        _ wantsProgress: Bool,
        _ call: Call,
        _ reply: @escaping ([String]) -> Reply
    ) throws(CofferError) -> Step {
        let vaultID = try keys.vaultID
        let write: ContentWrite
        do {
            let item = try catalog.secret(named: target.name, in: target.group)
            try checkReplacing(item)
            try checkMoving(item)
            write = try catalog.files.prepareWrite(target.name, in: target.group, as: protectionClass)
        } catch {
            throw .init(mapping: error, "can't store \(target.name.quoted)")
        }
        call.atEnd { self.openCatalog?.files.finished(write) }
        write.endOnLock(try call.makeCancellation())
        let report = call.progressReport(wantsProgress, total: intake.size.count)
        return .work(with: intake) { (intake) throws(CofferError) in
            try write.perform(prefix: intake.prefix, rest: intake.rest, progress: report)
        } then: { byteCount in
            do {
                try call.checkSender()
                guard try self.keys.vaultID == vaultID else { throw CofferError.vaultIsGone }
                return .done(reply(try self.commit(write, byteCount, target)))
            } catch {
                self.openCatalog?.files.discard(write)
                throw error
            }
        }
    }

    /// Returns warnings about what a keychain item has lost by becoming a file.
    private func commit(
        _ write: ContentWrite,
        _ byteCount: Int64,
        _ target: FileTarget
    ) throws -> [String] {
        // The content was sealed under the class that was right when the transfer began. If another client has stored
        // an item with another protection meanwhile, that item stays.
        let replaced = try stored(target.name, in: target.group)?.info
        guard replaced?.protection == target.replacing else {
            throw CofferError(
                .duplicateItem,
                "can't store \(target.name.quoted): somebody else has changed it meanwhile",
                hint: "repeat the command, if it still is to be replaced"
            )
        }
        let catalog = try catalog
        return try catalog.change { changes in
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
    }

    /// Describes what an item loses when it becomes a file.
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

    /// Refuses to replace an item unless its key is available: replacing is writing.
    func checkReplacing(_ item: KeychainItem?) throws(CofferError) {
        let state = try keys.state
        if let item, !item.accessibility.isAvailable(in: state) {
            throw .locked(quotedForDisplay(item.key.path), in: state, for: .write)
        }
    }

    /// Refuses to make a file of an item with an access control, which files don't have.
    private func checkMoving(_ item: KeychainItem?) throws {
        guard let item, item.attributes.accessControl != nil else { return }
        throw CofferError(
            .param,
            "can't store \(quotedForDisplay(item.key.path)) as a file: the item has an access control, and files have none",
            hint: "remove it first, or choose another name"
        )
    }

    func checkReplacing(_ file: FileItem?) throws(CofferError) {
        let state = try keys.state
        if let file, !file.protectionClass.permits(.write, in: state) {
            throw .locked(quotedForDisplay(file.path), in: state, for: .write)
        }
    }
}

extension RoutingFacts.Size {
    /// The number of bytes, if it is known.
    fileprivate var count: Int64? {
        switch self {
        case .exactly(let count): count
        case .moreThan: nil
        }
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
    /// - Parameter warnings: Further warnings.
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
