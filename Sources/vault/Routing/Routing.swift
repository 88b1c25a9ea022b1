package import CofferCore

/// The decision matrix: from facts to a store, a protection and the reason.
package enum Routing {
    /// Decides where an item is stored and how it is protected.
    ///
    /// The matrix routes a new name: an item keeps its store, and leaves the keychain when it outgrows it.
    ///
    /// It is a total function of its arguments: the same facts always give the same answer, so that `explain` predicts
    /// what `put` will do.
    ///
    /// - Parameters:
    ///   - facts: The facts about the item.
    ///   - wishes: The options and defaults that apply to it.
    ///   - bounds: The sizes that decide.
    /// - Returns: The verdict.
    /// - Throws: `dataTooLarge` if the item must go to the keychain and does not fit; `param` if the caller named two
    ///   protections, a secret kind in a directory, or a store that does not have the protection.
    package static func route(
        _ facts: RoutingFacts,
        wishes: RoutingWishes = RoutingWishes(),
        bounds: RoutingBounds = RoutingBounds()
    ) throws(CofferError) -> Verdict {
        let named = try wishes.named()
        let rule = Rule(for: facts, bounds)
        let fits = facts.size.fits(in: Limits.secretBytes)
        let kept = wishes.existing.map { fits ? $0.store : .file }
        if rule == .r0, wishes.store == nil, kept == nil, let kind = facts.kind, kind.isSecret {
            throw secretInDirectory(kind)
        }
        let chosen = wishes.store ?? kept ?? rule.store
        let (said, source) = protection(in: chosen ?? .keychain, named: named, wishes: wishes, facts)
        let only = said.onlyStore
        if let only, only != chosen {
            let isRefused = rule == .r0 && source != .existingItem
            if wishes.store != nil || isRefused { throw notThere(said, source, in: chosen ?? .file) }
        }
        guard let store = only ?? chosen, store == .file || fits,
            let protection = said.converted(to: store)
        else { throw tooLarge(facts, rule: rule, said, wishes: wishes) }
        return Verdict(
            store: store,
            storeSource: wishes.store != nil
                ? .caller : store == rule.store ? .matrix : only == nil ? .existingItem : .protection,
            rule: rule,
            protection: protection,
            protectionSource: source,
            convertedFrom: source == .caller && said.store != store && !wishes.namesBoth ? said : nil,
            signature: rule == .r0 || facts.foundKind == nil ? nil : facts.signature,
            bounds: bounds
        )
    }

    private static func protection(
        in store: StoreName,
        named: Protection?,
        wishes: RoutingWishes,
        _ facts: RoutingFacts
    ) -> (Protection, ProtectionSource) {
        if let named { return (named, .caller) }
        let (protection, source) = standing(in: store, wishes, facts)
        // A copy is never weaker than its source.
        guard store == .file, let least = wishes.leastClass,
            case .file(let decided)? = protection.converted(to: .file), decided.stricter(least) != decided
        else { return (protection, source) }
        return (.file(least), .copiedItem)
    }

    /// The protection of an item for which the caller names none.
    private static func standing(
        in store: StoreName,
        _ wishes: RoutingWishes,
        _ facts: RoutingFacts
    ) -> (Protection, ProtectionSource) {
        // Replacing a file creates a new one in its directory, which is never weaker than the one before. An item that
        // comes from the keychain keeps its policy.
        if store == .file, wishes.existing?.store != .keychain, let directory = wishes.directory {
            guard case .file(let former)? = wishes.existing, directory.stricter(former) != directory else {
                return (.file(directory), .directory)
            }
            return (.file(former), .existingItem)
        }
        if let existing = wishes.existing { return (existing, .existingItem) }
        if let entitled = wishes.entitled { return (entitled, .entitlement) }
        if let configured = wishes.configured { return (configured, .configuration) }
        if let scenario = facts.scenario { return (scenario.protection, .scenario) }
        if let scenario = facts.kind?.scenario { return (scenario.protection, .kind) }
        if store == .file && facts.isRecognisedSecret { return (.file(.complete), .content) }
        if store == .file, let group = wishes.group { return (.file(group), .group) }
        return (.standard(in: store), .standard)
    }

    // MARK: Refusals

    private static func secretInDirectory(_ kind: ItemKind) -> CofferError {
        CofferError(
            .param,
            "can't store a \(kind.rawValue) in this directory: it was made for files, and a \(kind.rawValue) belongs in "
                + "the keychain",
            hint: "choose a name outside it, leave out '--kind', or say '--store keychain'",
            operation: .create
        )
    }

    /// The error if a protection can't be had in the store where the item would go.
    private static func notThere(_ said: Protection, _ source: ProtectionSource, in store: StoreName) -> CofferError {
        let owner = source == .existingItem ? ", the protection of the item that is there," : ""
        return CofferError(
            .param,
            "can't store it in the \(store.words) with the protection '\(said.words)'\(owner): only the "
                + "\(said.store.words) has that",
            hint: "say '--store \(said.store.rawValue)', or name a protection of the \(store.words)",
            operation: .create
        )
    }

    private static func tooLarge(
        _ facts: RoutingFacts,
        rule: Rule,
        _ said: Protection,
        wishes: RoutingWishes
    ) -> CofferError {
        if said.onlyStore == .keychain, wishes.store == nil {
            return CofferError(
                .dataTooLarge,
                "can't store it with the protection '\(said.words)': only the keychain has that, the item has \(facts.size.words) bytes, and "
                    + "the limit is \(Limits.secretBytes) (32 KiB)",
                hint: "name a class of the file store, such as '--protection complete': it goes along in a backup",
                operation: .create
            )
        }
        var remedies: [String] = []
        if rule == .r2 { remedies.append("say '--kind document'") }
        if wishes.store == .keychain { remedies.append("leave out '--store keychain'") }
        return CofferError(
            .dataTooLarge,
            "can't put it in the keychain: it has \(facts.size.words) bytes, and the limit is "
                + "\(Limits.secretBytes) (32 KiB)",
            hint: "store it as a document: \(remedies.joined(separator: " and "))",
            operation: .create
        )
    }
}
