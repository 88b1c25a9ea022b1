import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/ACCESS-CONTROL.md`.
@Suite struct AccessControlPageTests {
    private let page: Page

    init() throws { page = try Page("ACCESS-CONTROL.md") }

    @Test func `every word is in the table, in the order of its bits`() throws {
        let rows = try page.table(["word", "what it asks for"])
        #expect(rows.map { $0[0] } == AccessControl.Flag.allCases.map { "`\($0.rawValue)`" })
    }

    @Test func `every factor and every need is on the page`() {
        let words = Set(page.text.quotedWords)
        let known = AuthenticationFactor.allCases.map(\.rawValue) + AuthenticationNeed.allCases.map(\.rawValue)
        #expect(words.isSuperset(of: known))
    }
}
