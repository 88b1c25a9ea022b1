import CofferCore
import CofferService
import CofferVault
import CofferWire
import Testing

/// The tables of `proto-docs/RULES.md`.
@Suite struct AccessRulesPageTests {
    private let page: Page

    init() throws { page = try Page("RULES.md") }

    @Test func `the methods that a rule allows are those of the page, by their verbs`() throws {
        let rows = try page.table(["verb", "allows"])
        #expect(Set(rows.flatMap { $0[0].quotedWords }) == Set(AccessRule.possibleVerbs.map(\.rawValue)))
        for row in rows {
            let allowed = Method.allCases.filter { $0.isRuled && $0.verbs.map(\.rawValue) == row[0].quotedWords }
            #expect(row[1].quotedWords == allowed.map(\.rawValue))
        }
    }
}
