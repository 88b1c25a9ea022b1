package import CofferCore

/// The decision matrix: from facts to a store, a protection and the reason.
package enum Routing {
    /// Decides where an item is stored and how it is protected.
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
    ///   protections.
    package static func route(
        _ facts: RoutingFacts,
        wishes: RoutingWishes = RoutingWishes(),
        bounds: RoutingBounds = RoutingBounds()
    ) throws(CofferError) -> Verdict {
        let named = try wishes.named()
        let rule = Rule(for: facts, bounds)
        guard let store = wishes.store ?? rule.store, store == .file || facts.size.fits(in: Limits.secretBytes) else {
            throw tooLarge(facts, rule: rule, wishes: wishes)
        }
        let (said, source) = protection(in: store, named: named, wishes: wishes, scenario: facts.scenario)
        return Verdict(
            store: store,
            storeSource: wishes.store == nil ? .matrix : .caller,
            rule: rule,
            protection: said.converted(to: store),
            protectionSource: source,
            convertedFrom: said.store == store ? nil : said,
            signature: facts.foundKind == nil ? nil : facts.signature,
            bounds: bounds
        )
    }

    private static func protection(
        in store: StoreName,
        named: Protection?,
        wishes: RoutingWishes,
        scenario: Scenario?
    ) -> (Protection, ProtectionSource) {
        if let named { return (named, .caller) }
        // Replacing a file creates a new one in its directory. An item that comes from the keychain keeps its policy.
        if store == .file, wishes.existing?.store != .keychain, let directory = wishes.directory {
            return (.file(directory), .directory)
        }
        if let existing = wishes.existing { return (existing, .existingItem) }
        if let entitled = wishes.entitled { return (entitled, .entitlement) }
        if let configured = wishes.configured { return (configured, .configuration) }
        if let scenario { return (scenario.protection, .scenario) }
        return (.standard(in: store), .standard)
    }

    private static func tooLarge(_ facts: RoutingFacts, rule: Rule, wishes: RoutingWishes) -> CofferError {
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
