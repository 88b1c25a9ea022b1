import CofferCore
import CofferService
import CofferVault
import CofferWire
import Testing

/// The tables of `proto-docs/RULES.md`.
@Suite struct AccessRulesPageTests {
    private let page: Page

    init() throws { page = try Page("RULES.md") }

    /// The methods that are on this page, and on no other.
    static let methods: [Method] = [.accessAllow, .accessDeny, .accessList, .accessRemove]

    @Test(arguments: methods, VaultState.allCases)
    func `the table of states is the gate`(method: Method, state: VaultState) throws {
        let rows = try page.stateRows(below: "## Methods")
        #expect(rows.flatMap { $0[0].quotedWords } == Self.methods.map(\.rawValue))
        try Page.expectGate(method, in: state, rows)
    }

    @Test(arguments: methods)
    func `the parameters of the page are those that the method reads, in their order`(method: Method) throws {
        let rows = try page.table(["method", "parameters", "result"])
        let row = try #require(rows.first { $0[0].quotedWords.contains(method.rawValue) })
        #expect(row[1].quotedWords == ProtocolParametersTests.parametersRead(by: method))
        let described = try page.table(["parameter", "type", "bounds", "default"])
        let required = row[1].quotedWords.filter { name in
            described.contains { $0[0].quotedWords == [name] && $0[3] == "required" }
        }
        #expect(required == ProtocolParametersTests.parametersMissed(by: method))
    }

    @Test func `the members of the results are on the page`() throws {
        let rows = try page.table(["method", "parameters", "result"])
        let rule = AccessRule(
            number: 1,
            kind: .allow,
            client: .user(1),
            verbs: [.read],
            group: "a",
            pattern: try NamePattern("b")
        )
        let added = AccessRuleResult(number: 1, held: [.read]).json
        let results: [(Method, [JSONObject])] = [
            (.accessAllow, [added]), (.accessDeny, [added]),
            (.accessList, [AccessRulePage(rules: [], next: 1, damaged: []).json, rule.json]),
        ]
        for (method, objects) in results {
            let row = try #require(rows.first { $0[0].quotedWords.contains(method.rawValue) })
            let named = Set(row[2].quotedWords)
            for object in objects {
                let members = Set(object.members.map(\.key))
                #expect(members.isSubset(of: named), "\(method): \(members.subtracting(named))")
            }
        }
    }

    @Test func `the methods that a rule allows are those of the page, by their verbs`() throws {
        let rows = try page.table(["verb", "allows"])
        #expect(Set(rows.flatMap { $0[0].quotedWords }) == Set(AccessRule.possibleVerbs.map(\.rawValue)))
        for row in rows {
            let allowed = Method.allCases.filter { $0.isRuled && $0.verbs.map(\.rawValue) == row[0].quotedWords }
            #expect(row[1].quotedWords == allowed.map(\.rawValue))
        }
    }
}
