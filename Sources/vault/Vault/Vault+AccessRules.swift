internal import CofferRights
package import CofferCore
internal import CofferKeys
package import CofferWire

// What a client may do: by its own rights, by leases and by access rules.

extension Vault {
    /// A client's rights: its own, or an empty set if only a lease or an access rule admits it.
    package func rights(of client: ClientIdentity) throws(CofferError) -> AccessRights {
        try access.rights(
            of: client,
            hasPermit: hasLease(client) || rules(for: client, isProgramHeld: true).contains { $0.kind == .allow }
        )
    }

    /// Whether a rule allows something to the program of a client, which has to be held for that.
    package func hasProgramRule(for client: ClientIdentity) -> Bool {
        rules(for: client, isProgramHeld: true).contains {
            if case .executable = $0.client { $0.kind == .allow } else { false }
        }
    }

    /// The rules of a client, in the order in which they were added.
    ///
    /// There are none while one is damaged: it may have denied what another one allows.
    package func rules(for client: ClientIdentity, isProgramHeld: Bool) -> [AccessRule] {
        guard let store = openCatalog?.rules, let rules = try? store.all, (try? store.damaged)?.isEmpty == true else {
            return []
        }
        return rules.filter { $0.isFor(client, of: access.daemon.userID, isProgramHeld: isProgramHeld) }
    }

    /// What the leases and the access rules of a client cover of a request.
    package func cover(of method: Method, _ params: JSONObject, from caller: Caller) -> Cover {
        let lease = leaseCover(of: method, params, from: caller)
        if case .item = lease { return lease }
        guard caller.rights.verbs.isEmpty || method.isRuled else { return lease }
        if (try? openCatalog?.rules.isEmpty) == true { return lease }
        let rules = rules(for: caller.identity, isProgramHeld: caller.program != nil)
        if !rules.contains(where: { $0.kind == .allow }) { return lease }
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
        _ rules: [AccessRule],
        _ caller: Caller
    ) -> Cover {
        if suffices(caller, for: verb, name, in: named) { return .somethingElse }
        var (first, isSealed): (Permit?, Bool) = (nil, false)
        for group in named.map({ [$0] }) ?? rules.groups(for: verb) {
            let listed = listedName(of: name, in: group)
            switch rules.verdict(on: verb, listed ?? name.path, askedAs: name.path, in: group) {
            case .refused: continue
            case .sealed: isSealed = true
            case .allowed(let rule):
                let permit = Permit.rule(rule.number, group: group)
                if listed != nil { return .item(permit) }
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

    /// The name by which an item is listed; `nil` if there is none.
    ///
    /// An item that can't be opened keeps the name by which it was requested: the request will fail for that reason.
    private func listedName(of name: ItemName, in group: String) -> String? {
        do { return try stored(name, in: group)?.item.path } catch { return name.path }
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
