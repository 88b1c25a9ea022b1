import CofferCore
import CofferRouting
import Testing

@Suite struct ScenarioTests {
    @Test(
        arguments: [
            (.health, "complete", "WhenUnlocked"),
            (.financial, "complete", "WhenUnlocked"),
            (.userDocument, "complete", "WhenUnlocked"),
            (.personalPhoto, "complete", "WhenUnlocked"),
            (.download, "completeUnlessOpen", "WhenUnlockedDeposit"),
            (.recording, "completeUnlessOpen", "WhenUnlockedDeposit"),
            (.upload, "completeUnlessOpen", "WhenUnlockedDeposit"),
            (.appData, "completeUntilFirstUserAuthentication", "AfterFirstUnlock"),
            (.database, "completeUntilFirstUserAuthentication", "AfterFirstUnlock"),
            (.downloadedImage, "completeUntilFirstUserAuthentication", "AfterFirstUnlock"),
            (.cache, "none", "Always"),
            (.temporary, "none", "Always"),
            (.password, "complete", "WhenUnlocked"),
            (.backgroundToken, "completeUntilFirstUserAuthentication", "AfterFirstUnlock"),
        ] as [(Scenario, String, String)]
    )
    func `a scenario decides the protection in both stores`(
        scenario: Scenario,
        file: String,
        keychain: String
    ) throws {
        for (store, name) in [(StoreName.file, file), (.keychain, keychain)] {
            let verdict = try Routing.route(
                RoutingFacts(size: .exactly(10), scenario: scenario),
                wishes: RoutingWishes(store: store)
            )
            #expect(verdict.protection.store == store)
            #expect(verdict.protection.name == name)
            #expect(verdict.protectionSource == .scenario)
        }
    }

    @Test(arguments: [(StoreName.file, "completeUntilFirstUserAuthentication"), (.keychain, "WhenUnlocked")])
    func `an item without options gets the standard protection`(store: StoreName, name: String) throws {
        let verdict = try Routing.route(RoutingFacts(size: .exactly(10)), wishes: RoutingWishes(store: store))
        #expect(verdict.protection.name == name)
        #expect(verdict.protectionSource == .standard)
        #expect(verdict.convertedFrom == nil)
    }

    @Test(arguments: ItemKind.allCases)
    func `a kind says a scenario where none is named`(kind: ItemKind) throws {
        let facts = RoutingFacts(kind: kind, size: .exactly(10))
        let verdict = try Routing.route(facts)
        if let scenario = kind.scenario {
            #expect(verdict.protection == scenario.protection)
            #expect(verdict.protectionSource == .kind)
        } else {
            #expect(verdict.protection == .keychain(.whenUnlocked))
            #expect(verdict.protectionSource == .standard)
        }
        let named = try Routing.route(RoutingFacts(kind: kind, size: .exactly(10), scenario: .cache))
        #expect(named.protectionSource == .scenario)
    }

    @Test(
        arguments: Scenario.allCases,
        RoutingFacts.product.filter { $0.size == .exactly(1025) && !$0.isInDirectory }
    )
    func `a scenario never changes the store`(scenario: Scenario, facts: RoutingFacts) throws {
        let named = RoutingFacts(
            kind: facts.kind,
            size: facts.size,
            isDeclaredStructured: facts.isDeclaredStructured,
            looksStructured: facts.looksStructured,
            isPresentedAsFile: facts.isPresentedAsFile,
            scenario: scenario
        )
        #expect(try Routing.route(named).rule == Routing.route(facts).rule)
        #expect(try Routing.route(named).store == Routing.route(facts).store)
    }
}
