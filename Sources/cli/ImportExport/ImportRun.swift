internal import CofferClient
internal import CofferSecretFormats
internal import CofferProvision
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// Stores the items of an import, or takes back what it has stored.
struct ImportRun {
    /// How what was stored is taken back.
    private enum Undo {
        case remove(ItemName)
        case restore(ItemName, ItemInfo, Secret)
        case delete(ServerAddress, account: String, domain: String)
        case restoreServer(ServerAddress, account: String, domain: String, Secret)
    }

    private let vault: ImportVault
    private var undos: [Undo] = []
    private(set) var warnings: [String] = []

    init(_ vault: ImportVault) { self.vault = vault }

    /// Stores items, in their order.
    ///
    /// A signal that would end the program is held until what it has stored is taken back.
    ///
    /// - Throws: The error of the first that can't be stored; then nothing of this run is stored.
    mutating func store(_ items: [(item: ImportPlan.Item, action: ImportAction)]) throws(CofferError) {
        let signals = try Self.hold()
        defer { withExtendedLifetime(signals) {} }
        let bar = ProgressBar()
        for (index, step) in items.enumerated() where step.action != .skip {
            do throws(CofferError) {
                if let signal = signals.next() {
                    kill(getpid(), signal.number)
                    throw CofferError(.io, "the import was interrupted")
                }
                try store(step.item, replacing: step.action == .replace)
            } catch {
                bar?.finish()
                throw takeBack(after: error, step.item)
            }
            bar?.update(Int64(index + 1), of: Int64(items.count))
        }
        bar?.finish()
    }

    private static func hold() throws(CofferError) -> HeldSignals {
        do { return try HeldSignals([SIGINT, SIGTERM, SIGHUP]) } catch {
            throw error.cofferError("can't keep signals from interrupting the import")
        }
    }

    private mutating func store(_ item: ImportPlan.Item, replacing isReplaced: Bool) throws(CofferError) {
        switch item.target {
        case .name(let name): try store(item, name, replacing: isReplaced)
        case .server(let address, let account, let domain):
            let keychain = vault.keychain
            if let found = try keychain.item(address, account: account, domain: domain) {
                let former = try keychain.secret(of: found)
                undos.append(.restoreServer(address, account: account, domain: domain, former))
                return try keychain.replace(found, [:], with: item.content)
            }
            var attributes = address.attributes.withoutEmptyOnes
            attributes[.account] = .text(account)
            if !domain.isEmpty { attributes[.securityDomain] = .text(domain) }
            undos.append(.delete(address, account: account, domain: domain))
            try keychain.add(attributes, item.content)
        }
    }

    private mutating func store(
        _ item: ImportPlan.Item,
        _ name: ItemName,
        replacing isReplaced: Bool
    ) throws(CofferError) {
        if isReplaced {
            let info = try vault.session.client.call(ItemShowParameters(name: name, group: vault.group)).value
            undos.append(.restore(name, info, try vault.session.content(name, info)))
            return try vault.replace(name, info, with: item.content)
        }
        var wishes = PlacementOptions()
        wishes.group = vault.group
        let isSecret = !item.isAttachment && item.content.count <= Limits.secretBytes
        wishes.kind = isSecret ? .password : .document
        let params = ItemPutParameters(
            name: name,
            wishes: wishes,
            attributes: isSecret ? item.attributes : [:],
            user: isSecret ? item.userAttributes() : [:],
            isIfAbsent: true
        )
        // It may be stored although the answer is lost.
        undos.append(.remove(name))
        do throws(CofferError) {
            warnings += try vault.put(name, params, item.content).warnings
        } catch {
            // Another client's item of that name is not this run's to remove.
            if error.code == .duplicateItem { undos.removeLast() }
            throw error
        }
    }

    /// Takes back what was stored, the last first.
    private func takeBack(after failure: CofferError, _ item: ImportPlan.Item) -> CofferError {
        var left = 0
        for undo in undos.reversed() {
            do throws(CofferError) { try take(back: undo) } catch  where error.code == .itemNotFound {} catch {
                left += 1
            }
        }
        let state = left == 0 ? "nothing was stored" : "\(left) items could not be taken back"
        return CofferError(
            failure.code,
            "can't store \(quotedForDisplay(item.name)) of \(item.entry.place): \(failure.message); \(state)",
            hint: failure.hint,
            retry: failure.retry
        )
    }

    private func take(back undo: Undo) throws(CofferError) {
        let (session, group) = (vault.session, vault.group)
        switch undo {
        case .remove(let name): _ = try session.client.call(ItemRemoveParameters(name: name, group: group))
        case .restore(let name, let info, let former): try vault.replace(name, info, with: former)
        case .delete(let address, let account, let domain):
            guard let item = try vault.keychain.item(address, account: account, domain: domain) else { return }
            try vault.keychain.delete(item)
        case .restoreServer(let address, let account, let domain, let former):
            guard let item = try vault.keychain.item(address, account: account, domain: domain) else { return }
            try vault.keychain.replace(item, [:], with: former)
        }
    }
}

extension ImportVault {
    /// Replaces the content of an item, which keeps its store and its protection.
    fileprivate func replace(_ name: ItemName, _ info: ItemInfo, with content: Secret) throws(CofferError) {
        let isSecret = info.byteCount <= Limits.secretBytes && content.count <= Limits.secretBytes
        if isSecret && info.protection.store == .keychain {
            return try session.replace(try session.secret(name, in: group), with: content)
        }
        var wishes = PlacementOptions()
        wishes.group = group
        wishes.kind = .document
        if case .file(let protection) = info.protection { wishes.protectionClass = protection }
        _ = try put(name, ItemPutParameters(name: name, wishes: wishes), content)
    }

    /// Stores a content, which passes through memory without a name if it is larger than a secret.
    fileprivate func put(
        _ name: ItemName,
        _ params: ItemPutParameters,
        _ content: Secret
    ) throws(CofferError) -> Placement {
        if content.count <= Limits.secretBytes { return try session.call(params, payload: content).value }
        do {
            let memory = try AnonymousMemory("coffer import")
            try content.write(to: memory.number)
            try memory.rewind()
            return try session.client.call(params, passing: memory.number).value
        } catch let error as SystemError {
            throw error.cofferError("can't store \(name.quoted)")
        } catch let error as CofferError {
            throw error
        } catch {
            throw CofferError(.internal, "can't store \(name.quoted)")
        }
    }
}
