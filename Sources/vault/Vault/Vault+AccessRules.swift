package import CofferRights
package import CofferCore
internal import CofferKeys
internal import CofferSystem
package import CofferWire

// What a client may do: by its own rights, and by access rules.

extension Vault {
    /// A client's rights: its own, or an empty set if only an access rule admits it.
    package func rights(of client: ClientIdentity) throws(CofferError) -> AccessRights {
        try access.rights(
            of: client,
            hasRule: rules(for: client, isProgramHeld: true).contains { $0.rule.kind == .allow }
        )
    }

    /// Whether a rule allows something to the program of a client, which has to be held for that.
    package func hasProgramRule(for client: ClientIdentity) -> Bool {
        rules(for: client, isProgramHeld: true).contains {
            if case .executable = $0.rule.client { $0.rule.kind == .allow } else { false }
        }
    }

    /// The rules of a client that have not ended, in the order in which they were added.
    ///
    /// There are none while one is damaged: it may have denied what another one allows.
    private func rules(for client: ClientIdentity, isProgramHeld: Bool) -> [StoredAccessRule] {
        guard let store = openCatalog?.rules, let rules = try? store.all, (try? store.damaged)?.isEmpty == true else {
            return []
        }
        let (clock, owner) = (settings.clock, access.daemon.userID)
        return rules.filter {
            $0.rule.isFor(client, of: owner, isProgramHeld: isProgramHeld) && $0.counts(at: clock.now, of: clock.bootID)
        }
    }

    /// The rules that allow a client something.
    package func rulesAllowing(_ caller: Caller) -> [StoredAccessRule] {
        rules(for: caller.identity, isProgramHeld: caller.program != nil).filter { $0.rule.kind == .allow }
    }

    /// What the access rules of a client cover of a request.
    ///
    /// - Parameter isProgramHeld: Whether the connection ends if its process runs another program.
    package func cover(
        of method: Method,
        _ params: JSONObject,
        from caller: Caller,
        isProgramHeld: Bool
    ) -> Cover {
        guard caller.rights.verbs.isEmpty || method.isRuled else { return .nothing }
        if (try? openCatalog?.rules.isEmpty) == true { return .nothing }
        let rules = rules(for: caller.identity, isProgramHeld: isProgramHeld)
        if !rules.contains(where: { $0.rule.kind == .allow }) { return .nothing }
        guard let verb = method.ruledVerb, let name = params["name"]?.stringValue.flatMap({ try? ItemName($0) }) else {
            return .somethingElse
        }
        return ruleCover(of: verb, name, in: params["group"]?.stringValue.map(caller.own), rules, caller)
    }

    /// - Parameter named: The group that the request names.
    private func ruleCover(
        of verb: Verb,
        _ name: ItemName,
        in named: String?,
        _ rules: [StoredAccessRule],
        _ caller: Caller
    ) -> Cover {
        guard let store = openCatalog?.rules, !suffices(caller, for: verb, name, in: named) else {
            return .somethingElse
        }
        var (first, isSealed): (StoredAccessRule?, Bool) = (nil, false)
        for group in named.map({ [$0] }) ?? rules.map(\.rule).groups(for: verb) {
            let item = item(of: name, in: group)
            let known = rules.compactMap { store.rule($0, askedFor: name, item) }
            switch known.verdict(on: verb, item.listed ?? name.path, askedAs: name.path, in: group) {
            case .refused: continue
            case .sealed: isSealed = true
            case .allowed(let rule):
                guard let permit = rules.first(where: { $0.number == rule.number }) else { continue }
                if item.isThere { return .item(permit) }
                first = first ?? permit
            }
        }
        if isSealed, let state = openKeys?.state {
            return .sealed(.locked(name.quoted, in: state, for: verb.operation))
        }
        // What is nowhere is not in the client's own group.
        if named == nil && caller.rights.verbs.contains(verb) { return .somethingElse }
        return first.map { .item($0) } ?? .somethingElse
    }

    /// Whether a client's own rights decide about a request, and no rule.
    ///
    /// A client with rights of its own names the group of a rule to write or to remove something there: otherwise it
    /// would depend on the rules where something goes.
    private func suffices(_ caller: Caller, for verb: Verb, _ name: ItemName, in named: String?) -> Bool {
        let rights = caller.rights
        if let named { return rights.verbs.contains(verb) && (try? caller.group(named)) != nil }
        return !rights.verbs.isEmpty && (verb != .read || hasItem(name, in: nil, caller))
    }

    /// Whether a client can read an item of its own by a name.
    private func hasItem(_ name: ItemName, in group: String?, _ caller: Caller) -> Bool {
        guard caller.rights.verbs.contains(.read), let group = try? caller.group(group) else { return false }
        return item(of: name, in: group).isThere
    }

    /// What is stored under a name.
    private func item(of name: ItemName, in group: String) -> NamedItem {
        do {
            guard let stored = try stored(name, in: group) else { return .missing }
            return .found(listed: stored.item.path, created: stored.info.created)
        } catch {
            return .unreadable
        }
    }

    // MARK: Ends

    /// Whether a rule is for an item that does not exist any more.
    package func hasLostItem(_ rule: StoredAccessRule) -> Bool {
        guard let name = rule.rule.name, let store = openCatalog?.rules else { return false }
        return store.rule(rule, askedFor: name, item(of: name, in: rule.rule.group)) == nil
    }

    /// Removes the rules that have ended with their time, their boot or their item, within a transaction of its own.
    ///
    /// If the removal fails, they count no more all the same.
    package func removeEndedRules(in catalog: Catalog) throws {
        let clock = settings.clock
        let now = clock.now
        let ended = try catalog.rules.all.filter { !$0.counts(at: now, of: clock.bootID) || hasLostItem($0) }
        if ended.isEmpty { return }
        try? catalog.change { _ in
            for rule in ended { try catalog.rules.remove(rule.number) }
        }
    }
}

extension Method {
    /// What an access rule has to allow for a request.
    fileprivate var ruledVerb: Verb? { isRuled ? verbs.first : nil }
}

extension Verb {
    /// The operation, for the words of an error.
    fileprivate var operation: ItemOperation { self == .read ? .read : .write }
}
