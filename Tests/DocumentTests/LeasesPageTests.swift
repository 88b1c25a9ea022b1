import CofferWire
import Testing

/// The tables of `proto-docs/LEASES.md`.
@Suite struct LeasesPageTests {
    private let page: Page

    init() throws { page = try Page("LEASES.md") }

    @Test func `the methods that a lease allows are those of the page`() throws {
        let words = try page.section("## What a lease allows").joined(separator: " ").quotedWords
        let allowed = Method.allCases.filter(\.isLeasable).map(\.rawValue)
        #expect(Method.allCases.map(\.rawValue).filter(words.contains) == allowed)
    }
}
