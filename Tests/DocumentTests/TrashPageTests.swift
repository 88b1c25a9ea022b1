import CofferCore
import Testing

/// The tables of `proto-docs/TRASH.md`.
@Suite struct TrashPageTests {
    private let page: Page

    init() throws { page = try Page("TRASH.md") }

    @Test func `what the trash keeps by default is on the page`() throws {
        #expect(page.text.contains("**\(Limits.defaultTrashDays) days**"))
        #expect(page.text.contains("holds \(Limits.defaultTrashBytes >> 30) GiB"))
    }
}
