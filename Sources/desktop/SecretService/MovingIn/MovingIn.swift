internal import CofferBus
package import CofferClient
internal import CofferSystem

/// The items of another Secret Service, copied into the vault as if their programs had stored them there.
///
/// It changes nothing in the other service, and nothing in the vault but by ``Holdings``, as the bridge does.
package final class MovingIn {
    /// What becomes of an item.
    package enum Step {
        /// The vault has not had it.
        case stored
        /// The vault has had it with another secret, which is a former value now.
        case replaced
        /// The vault has it.
        case skipped
    }

    /// What the caller is told, as it happens.
    package enum Event {
        case item(Step, collection: String, label: String, byteCount: Int)
        /// As many items are not copied; the words say which, and why.
        case leftOut(Int, words: String)
        /// What the person is to do now.
        case notice(String)
    }

    /// Copies all collections but that of the session.
    ///
    /// One item that can't be copied stops no other.
    ///
    /// - Parameters:
    ///   - connect: Connects to the daemon.
    ///   - patience: How long the other service may be silent; `nil` for ever.
    ///   - isDryRun: Whether nothing is stored.
    ///   - tell: Gets what happens.
    /// - Throws: `notAvailable` if there is no other service, or if it has ended; why the vault takes no more items.
    package static func run(
        _ connect: @escaping () throws(CofferError) -> BlockingClient,
        patience: Duration?,
        isDryRun: Bool,
        tell: @escaping (Event) -> Void
    ) throws(CofferError) {
        let caller = try ServiceCaller(patience: patience)
        try caller.find(SecretService.busName)
        guard try caller.owner(of: VaultObject.name) != caller.owner else {
            throw CofferError(
                .notAvailable,
                "the Secret Service of this session is Coffer's own: what it has is in the vault",
                hint: "'coffer secret-service disable' hands it back to the desktop; then repeat the command"
            )
        }
        let holdings = Holdings(DaemonConnection(connect)) { _ in }
        try holdings.readState()
        try holdings.requireUnlocked()
        try MovingIn(holdings, isDryRun, tell).copy(caller)
    }

    private let holdings: Holdings
    private let isDryRun: Bool
    private let tell: (Event) -> Void
    /// The items of the vault that stand for one of the other service.
    private var claimed: Set<ItemKey> = []
    /// The collections of the vault that stand for one of the other service.
    private var taken: Set<String> = []
    /// How many items the other service has, and how many of them are done.
    private var (itemCount, doneCount) = (0, 0)

    private init(_ holdings: Holdings, _ isDryRun: Bool, _ tell: @escaping (Event) -> Void) {
        self.holdings = holdings
        self.isDryRun = isDryRun
        self.tell = tell
    }

    private func copy(_ caller: ServiceCaller) throws(CofferError) {
        do throws(CallFailure) {
            try copy(try OtherService(caller))
        } catch {
            let error = error.cofferError
            let rest = itemCount - doneCount
            if rest > 0 {
                leaveOut(rest, "\(counted(rest, "more item is", "more items are")) left out: \(error.message)")
            }
            throw error
        }
    }

    private func leaveOut(_ count: Int, _ words: String) {
        doneCount += count
        tell(.leftOut(count, words: words))
    }

    // MARK: Collections

    private func copy(_ service: OtherService) throws(CallFailure) {
        let session = try service.collection(aliased: Collection.session)
        var collections: [OtherService.OtherCollection] = []
        for path in try service.collections() where path != session {
            do throws(CallFailure) { collections.append(try service.collection(at: path)) } catch {
                guard case .refused(let failure) = error else { throw error }
                leaveOut(0, "the collection \(quotedForDisplay(path)) is left out: \(failure.words)")
            }
        }
        itemCount = collections.reduce(0) { $0 + $1.items.count }
        let login = try service.collection(aliased: Collection.login)
        let usual = try service.collection(aliased: Collection.usualAlias)
        // The vault's own goes to the one that is it there, whatever its label is.
        for other in collections.filter({ $0.path == login }) + collections.filter({ $0.path != login }) {
            try copy(other, isLogin: other.path == login, isUsual: other.path == usual, of: service)
        }
    }

    private func copy(
        _ other: OtherService.OtherCollection,
        isLogin: Bool,
        isUsual: Bool,
        of service: OtherService
    ) throws(CallFailure) {
        var obstacle: String?
        if other.isLocked {
            do throws(CallFailure) {
                let isUnlocked = try service.unlock(other.path) {
                    let label = quotedForDisplay(other.label)
                    tell(.notice("the other service asks you to unlock its collection \(label)"))
                }
                if !isUnlocked { obstacle = "its collection stays locked: the prompt was dismissed" }
            } catch {
                guard case .refused(let failure) = error else { throw error }
                obstacle = "its collection can't be unlocked: \(failure.words)"
            }
        }
        let name: String?
        do throws(CofferError) {
            name = obstacle == nil ? try place(of: other, isLogin: isLogin, isUsual: isUsual) : nil
        } catch { throw .ended(error) }
        var rest = other.items[...]
        while !rest.isEmpty {
            let paths = rest.prefix(Limits.serviceItemsAtOnce)
            rest = rest.dropFirst(paths.count)
            var items: [OtherService.OtherItem] = []
            for path in paths {
                do throws(CallFailure) {
                    let item = try service.item(at: path)
                    if let obstacle { leaveOut(item, other, obstacle) } else { items.append(item) }
                } catch {
                    guard case .refused(let failure) = error else { throw error }
                    let end = path.split(separator: "/").last.map(String.init) ?? path
                    leaveOut(1, Self.words(end, other, obstacle ?? failure.words))
                }
            }
            try copy(items, of: other, to: name, of: service)
        }
    }

    /// The collection of the vault for one of the other service; `nil` if it is not made because nothing is stored.
    private func place(
        of other: OtherService.OtherCollection,
        isLogin: Bool,
        isUsual: Bool
    ) throws(CofferError) -> String? {
        let known = try holdings.allCollections.sorted { $0.name < $1.name }.first {
            $0.label == other.label && $0.name != Collection.session && !taken.contains($0.name)
        }
        var name = isLogin ? Collection.login : known?.name
        if name == nil && !isDryRun { name = try holdings.makeCollection(labelled: other.label, alias: nil) }
        if let name { taken.insert(name) }
        if isUsual, !isDryRun, let name, try holdings.collection(aliased: Collection.usualAlias)?.name != name {
            try holdings.setAlias(Collection.usualAlias, to: try holdings.collection(name))
        }
        return name
    }

    // MARK: Items

    private func copy(
        _ items: [OtherService.OtherItem],
        of other: OtherService.OtherCollection,
        to collection: String?,
        of service: OtherService
    ) throws(CallFailure) {
        if items.isEmpty { return }
        var left = Dictionary(items.map { ($0.path, $0) }) { one, _ in one }
        do throws(CallFailure) {
            try service.forEachSecret(of: items.map(\.path)) { (path, secret, type) throws(CofferError) in
                guard let item = left.removeValue(forKey: path) else { return }
                try copy(item, secret, type, of: other, to: collection)
            }
        } catch {
            // One that it can't give may keep it from giving the others.
            guard case .refused = error else { throw error }
        }
        for item in items where left[item.path] != nil {
            do throws(CallFailure) {
                let (secret, type) = try service.secret(of: item.path)
                do throws(CofferError) { try copy(item, secret, type, of: other, to: collection) } catch {
                    throw .ended(error)
                }
            } catch {
                guard case .refused(let failure) = error else { throw error }
                leaveOut(item, other, failure.words)
            }
        }
    }

    /// - Throws: Why the vault takes no more items.
    private func copy(
        _ item: OtherService.OtherItem,
        _ secret: Result<Secret, BusFailure>,
        _ contentType: String,
        of other: OtherService.OtherCollection,
        to collection: String?
    ) throws(CofferError) {
        guard case .success(let content) = secret else {
            if case .failure(let failure) = secret { leaveOut(item, other, failure.words) }
            return
        }
        let new = NewItem(
            label: item.label,
            attributes: item.attributes,
            contentType: contentType,
            secret: content,
            created: item.created
        )
        do throws(CofferError) {
            try new.requireStorable()
            let step = try store(new, in: collection)
            doneCount += 1
            tell(.item(step, collection: other.label, label: item.label, byteCount: content.count))
        } catch {
            guard !error.isOfWholeVault else { throw error }
            leaveOut(item, other, error.message)
        }
    }

    private func store(_ item: NewItem, in collection: String?) throws(CofferError) -> Step {
        guard let collection else { return .stored }
        // Some programs give all their items the same attributes. An earlier import has stored them in this order.
        var known: [ItemKey] = []
        for attributes in [item.attributes, Self.otherForm(of: item.attributes)].compactMap(\.self) {
            let found = try holdings.items(withExactly: attributes, in: collection).reversed()
            known += found.filter { !claimed.contains($0) }
        }
        for key in known where try holdings.secret(of: key).isEqual(to: item.secret) {
            claimed.insert(key)
            return .skipped
        }
        for key in known where try holdings.item(key).label == item.label {
            claimed.insert(key)
            if !isDryRun {
                try holdings.change(key) { (store) throws(CofferError) in try store.replace(key, by: item) }
            }
            return .replaced
        }
        if !isDryRun { claimed.insert(try holdings.add(item, to: collection, replaces: false)) }
        return .stored
    }

    /// The same attributes with the schema of items that name none, or without it.
    ///
    /// When gnome-keyring reads its file again, it adds that schema.
    ///
    /// - Returns: `nil` for those of another schema.
    private static func otherForm(of attributes: [String: String]) -> [String: String]? {
        let (name, generic) = ("xdg:schema", "org.freedesktop.Secret.Generic")
        var other = attributes
        switch attributes[name] {
        case nil: other[name] = generic
        case generic: other[name] = nil
        default: return nil
        }
        return other
    }

    private func leaveOut(_ item: OtherService.OtherItem, _ other: OtherService.OtherCollection, _ reason: String) {
        leaveOut(1, Self.words(item.label, other, reason))
    }

    private static func words(_ label: String, _ other: OtherService.OtherCollection, _ reason: String) -> String {
        "\(quotedForDisplay(label)) of \(quotedForDisplay(other.label)) is left out: \(reason)"
    }
}

extension NewItem {
    /// Refuses what no vault takes, so that a dry run can say it.
    fileprivate func requireStorable() throws(CofferError) {
        try Self.check(attributes)
        _ = try Accessibility(wishedBy: attributes)
        guard attributes.count <= Limits.userAttributes else {
            throw CofferError(.dataTooLarge, "it has more than \(Limits.userAttributes) attributes")
        }
        let size = attributes.reduce(label.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard size <= Limits.metadataBytes || secret.count > Limits.secretBytes else {
            throw CofferError(.dataTooLarge, "its label and attributes have more than \(Limits.metadataBytes) bytes")
        }
    }
}

extension CofferError {
    /// Whether the next item would not be stored either.
    fileprivate var isOfWholeVault: Bool {
        [.interactionNotAllowed, .missingEntitlement, .notAvailable, .diskFull, .io, .internal].contains(code)
    }
}
