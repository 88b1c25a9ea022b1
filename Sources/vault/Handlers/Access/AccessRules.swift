internal import CofferRights
internal import CofferCore
internal import CofferKeys
internal import CofferSystem
package import CofferVault
package import CofferWire

// Access rules: rights to the items whose names match a pattern, or to one item. They count until they end or are removed.

extension AccessHandlers {
    // MARK: Using

    /// Answers a read that a rule with counted uses permits.
    ///
    /// The use is counted, and the count committed, before any data is sent.
    func get(_ params: JSONObject, countedBy rule: StoredAccessRule, _ call: Call) throws -> Step {
        let params = try ItemGetParameters(params: params)
        let state = try keys.state
        // A file is opened only after the commit, when the use has been counted: refuse a locked item before.
        guard try vault.require(params.name, in: rule.rule.group).info.protection.isReadable(in: state) else {
            throw CofferError.locked(params.name.quoted, in: state, for: .read)
        }
        let catalog = try catalog
        // One change, so that a read that fails does not count as a use.
        return try catalog.change { _ in
            try catalog.rules.countUse(of: rule)
            return try handlers.item.itemGet(params, call)
        }
    }

    // MARK: Changing

    package func accessAllow(_ params: AccessAllowParameters, _ call: Call) throws -> Step {
        try call.caller.requireHeld(params.verbs, toLetIn: params.client)
        let group = try call.group(params.group)
        let end = try params.seconds.map(end(after:))
        let item = try params.name.map { try vault.require($0, in: group).info }
        var rule = AccessRule(
            number: 0,
            kind: .allow,
            client: params.client,
            verbs: params.verbs,
            group: group,
            pattern: params.pattern
        )
        rule.name = try item.map { try ItemName($0.name) }
        rule.seconds = params.seconds
        rule.uses = params.uses
        rule.reason = params.reason
        return try add(rule, until: end, for: item, call)
    }

    package func accessDeny(_ params: AccessDenyParameters, _ call: Call) throws -> Step {
        let rule = AccessRule(
            number: 0,
            kind: .deny,
            client: params.client,
            verbs: params.verbs,
            group: try call.group(params.group),
            pattern: params.pattern
        )
        return try add(rule, call)
    }

    private func end(after seconds: Int64) throws(CofferError) -> RuleEnd {
        guard let bootID = settings.clock.bootID else {
            throw CofferError(
                .notAvailable,
                "can't limit the time of a rule: this machine does not say which boot it is in, and such a rule ends with the boot",
                hint: "let the daemon read /proc/sys/kernel/random/boot_id"
            )
        }
        return RuleEnd(bootID: bootID, time: settings.clock.now + UInt64(seconds) * 1_000_000_000)
    }

    private func add(
        _ rule: AccessRule,
        until end: RuleEnd? = nil,
        for item: ItemInfo? = nil,
        _ call: Call
    ) throws -> Step {
        call.isFor("can't add an access rule")
        let held = rule.verbs.intersection(verbsHeld(by: rule.client, in: rule.group))
        let catalog = try catalog
        if !call.caller.mayAdminister && !rule.isShare(of: call.caller) { throw CofferError.isNoShare(call.caller) }
        if let same = try catalog.rules.all.first(where: { $0.saysTheSame(as: rule) }) {
            return .done(Reply(AccessRuleResult(number: same.number, held: held)))
        }
        if rule.mayGiveMuch(besides: vault.access.daemon.userID) {
            try handlers.context.requirePasscode(call, "can't add an access rule")
        }
        try vault.removeEndedRules(in: catalog)
        let number = try catalog.change { _ in
            try requirePlace(for: rule, among: catalog.rules.all.map(\.rule))
            var rule = rule
            rule.added = wallClockMilliseconds()
            return try catalog.rules.add(
                rule,
                until: end,
                itemCreated: item?.created,
                isNamedInEveryState: item?.protection.isNamedInEveryState ?? false
            )
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
        let isListed = try catalog.rules.all.contains { $0.number == params.number && isOwn($0.rule, of: caller) }
        guard try isListed || caller.mayAdminister && catalog.rules.damaged.contains(params.number) else {
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
        try vault.removeEndedRules(in: catalog)
        let caller = call.caller
        let rules =
            try params.isOfCaller
            ? vault.rulesAllowing(caller) : catalog.rules.all.filter { isOwn($0.rule, of: caller) }
        let now = settings.clock.now
        let page = rules.map { $0.rule(at: now) }.page(after: params.after, \.number) { $0.greatestJSONByteCount }
        let result = AccessRulePage(
            rules: page.entries,
            next: page.next,
            damaged: params.after == nil && caller.mayAdminister ? try catalog.rules.damaged : []
        )
        return .done(Reply(result))
    }

    /// Whether a rule is of a group that a client administers, or one by which it shares.
    private func isOwn(_ rule: AccessRule, of caller: Caller) -> Bool {
        caller.rights.reach.contains(rule.group) && (caller.mayAdminister || rule.isShare(of: caller))
    }
}

extension AccessRule {
    /// Whether it allows other identities than the owner's own processes any number of items.
    fileprivate func mayGiveMuch(besides owner: UInt32) -> Bool {
        guard kind == .allow, isForOneName != true else { return false }
        switch client {
        case .user(let number): return number != owner
        case .group, .unit, .outsideServices: return true
        case .userUnit, .executable: return false
        }
    }

    /// The maximum size of its JSON: escaping makes up to six bytes of one.
    fileprivate var greatestJSONByteCount: Int {
        let texts = [group, client.description, name?.path ?? pattern?.text ?? "", reason ?? ""]
        return texts.reduce(512) { $0 + $1.utf8.count * 6 }
    }
}
