internal import CofferAccess
package import CofferCore
internal import CofferKeys
package import CofferWire

// Access rules: rights to the items whose names match a pattern, which end only when they are removed.

extension Vault {
    // MARK: Using

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
    private func rules(for client: ClientIdentity, isProgramHeld: Bool) -> [AccessRule] {
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

    // MARK: Changing

    package func accessAllow(_ params: AccessAllowParameters, _ call: Call) throws -> Step {
        try add(.allow, params.client, params.verbs, params.pattern, in: call.group(params.group), call)
    }

    package func accessDeny(_ params: AccessDenyParameters, _ call: Call) throws -> Step {
        try add(.deny, params.client, params.verbs, params.pattern, in: call.group(params.group), call)
    }

    private func add(
        _ kind: AccessRuleKind,
        _ client: ClientPattern,
        _ verbs: Set<Verb>,
        _ pattern: NamePattern,
        in group: String,
        _ call: Call
    ) throws -> Step {
        call.isFor("can't add an access rule")
        let held = verbs.intersection(verbsHeld(by: client, in: group))
        let catalog = try catalog
        let rule = AccessRule(number: 0, kind: kind, client: client, verbs: verbs, group: group, pattern: pattern)
        if !call.caller.mayAdminister && !rule.isShare(of: call.caller) { throw CofferError.isNoShare(call.caller) }
        if let same = try catalog.rules.all.first(where: rule.saysTheSame) {
            return .done(Reply(AccessRuleResult(number: same.number, held: held)))
        }
        let number = try catalog.change { _ in
            try requirePlace(for: rule, among: catalog.rules.all)
            return try catalog.rules.add(kind, client, verbs, pattern, in: group)
        }
        return .done(Reply(AccessRuleResult(number: number, held: held)))
    }

    /// Refuses a rule that would be one too many.
    private func requirePlace(for rule: AccessRule, among rules: [AccessRule]) throws(CofferError) {
        guard rules.count < Limits.accessRules else {
            throw CofferError(
                .notAvailable,
                "there are \(Limits.accessRules) access rules, which is the most",
                hint: "'coffer access' lists them, and 'coffer access remove' removes one"
            )
        }
        try rule.requirePlaceForShare(among: rules)
    }

    /// The verbs that a client of a pattern holds in a group without any rule.
    private func verbsHeld(by client: ClientPattern, in group: String) -> Set<Verb> {
        guard let rights = try? access.rights(of: access.client(in: client)), rights.reach.contains(group) else {
            return []
        }
        return rights.verbs
    }

    package func accessRemove(_ params: AccessRemoveParameters, _ call: Call) throws -> Step {
        call.isFor("can't remove access rule \(params.number)")
        let catalog = try catalog
        let caller = call.caller
        let isOwn = try catalog.rules.all.contains {
            $0.number == params.number && caller.rights.reach.contains($0.group)
                && (caller.mayAdminister || $0.isShare(of: caller))
        }
        guard try isOwn || caller.mayAdminister && catalog.rules.damaged.contains(params.number) else {
            throw CofferError(
                .itemNotFound,
                "there is no access rule \(params.number)",
                hint: "'coffer access' lists those that there are"
            )
        }
        try catalog.change { _ in try catalog.rules.remove(params.number) }
        return .done
    }

    // MARK: Listing

    package func accessList(_ params: AccessListParameters, _ call: Call) throws -> Step {
        call.isFor("can't list the access rules")
        let catalog = try catalog
        let after = params.after ?? 0
        let wanted = try (params.isOfCaller ? rulesAllowing(call.caller) : rulesListed(for: call.caller))
            .filter { $0.number > after }
        let page = wanted.firstPage { $0.greatestJSONByteCount }
        let result = AccessRulePage(
            rules: Array(page),
            next: page.count < wanted.count ? page.last?.number : nil,
            damaged: params.after == nil && call.caller.mayAdminister ? try catalog.rules.damaged : []
        )
        return .done(Reply(result))
    }

    /// The rules that allow a client something.
    private func rulesAllowing(_ caller: Caller) -> [AccessRule] {
        rules(for: caller.identity, isProgramHeld: caller.program != nil).filter { $0.kind == .allow }
    }

    /// The rules of the groups that a client administers, or those by which it shares.
    private func rulesListed(for caller: Caller) throws -> [AccessRule] {
        try catalog.rules.all.filter {
            caller.rights.reach.contains($0.group) && (caller.mayAdminister || $0.isShare(of: caller))
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

extension AccessRule {
    /// The maximum size of its JSON: escaping makes up to six bytes of one.
    fileprivate var greatestJSONByteCount: Int {
        512 + (group.utf8.count + client.description.utf8.count + (pattern?.text ?? "").utf8.count) * 6
    }
}
