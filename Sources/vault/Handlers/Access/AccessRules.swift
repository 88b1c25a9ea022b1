internal import CofferRights
internal import CofferCore
internal import CofferKeys
package import CofferVault
package import CofferWire

// Access rules: rights to the items whose names match a pattern, which end only when they are removed.

extension AccessHandlers {
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
        if kind == .allow { try call.caller.requireHeld(verbs, toLetIn: client) }
        let catalog = try catalog
        let rule = AccessRule(number: 0, kind: kind, client: client, verbs: verbs, group: group, pattern: pattern)
        if !call.caller.mayAdminister && !rule.isShare(of: call.caller) { throw CofferError.isNoShare(call.caller) }
        if let same = try catalog.rules.all.first(where: rule.saysTheSame) {
            return .done(Reply(AccessRuleResult(number: same.number, held: held)))
        }
        if rule.mayGiveMuch(besides: vault.access.daemon.userID) {
            try handlers.context.requirePasscode(call, "can't add an access rule")
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
        guard let rights = try? vault.access.rights(of: vault.access.client(in: client)), rights.reach.contains(group)
        else {
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
        let page = try (params.isOfCaller ? rulesAllowing(call.caller) : rulesListed(for: call.caller))
            .page(after: params.after, \.number) { $0.greatestJSONByteCount }
        let result = AccessRulePage(
            rules: page.entries,
            next: page.next,
            damaged: params.after == nil && call.caller.mayAdminister ? try catalog.rules.damaged : []
        )
        return .done(Reply(result))
    }

    /// The rules that allow a client something.
    private func rulesAllowing(_ caller: Caller) -> [AccessRule] {
        vault.rules(for: caller.identity, isProgramHeld: caller.program != nil).filter { $0.kind == .allow }
    }

    /// The rules of the groups that a client administers, or those by which it shares.
    private func rulesListed(for caller: Caller) throws -> [AccessRule] {
        try catalog.rules.all.filter {
            caller.rights.reach.contains($0.group) && (caller.mayAdminister || $0.isShare(of: caller))
        }
    }
}

extension AccessRule {
    /// Whether it allows other identities than the owner's own processes any number of items.
    fileprivate func mayGiveMuch(besides owner: UInt32) -> Bool {
        guard kind == .allow, pattern?.isOneName != true else { return false }
        switch client {
        case .user(let number): return number != owner
        case .group, .unit, .outsideServices: return true
        case .userUnit, .executable: return false
        }
    }

    /// The maximum size of its JSON: escaping makes up to six bytes of one.
    fileprivate var greatestJSONByteCount: Int {
        512 + (group.utf8.count + client.description.utf8.count + (pattern?.text ?? "").utf8.count) * 6
    }
}
