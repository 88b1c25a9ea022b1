import CofferImportExport
import Testing

/// The tables of `proto-docs/IMPORT.md`.
@Suite struct ImportPageTests {
    private let page: Page

    init() throws { page = try Page("IMPORT.md") }

    @Test func `every format that is imported is in the table, with what it is`() throws {
        let rows = try page.table(["format", "what is read", "where it is, if FILE is left out"])
        #expect(rows.map { $0[0] } == ImportFormat.allCases.map { "`\($0.rawValue)`" })
        #expect(rows.map { $0[1] } == ImportFormat.allCases.map(\.summary))
    }

    @Test func `every format that is exported is in the table, with what it is`() throws {
        let rows = try page.table(["format", "what is written"])
        #expect(rows.map { $0[0] } == ExportFormat.allCases.map { "`\($0.rawValue)`" })
        #expect(rows.map { $0[1] } == ExportFormat.allCases.map(\.summary))
    }
}
