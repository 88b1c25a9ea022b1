import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/DOCTOR.md`.
@Suite struct DoctorPageTests {
    private let page: Page

    init() throws { page = try Page("DOCTOR.md") }

    @Test func `every stage is in the table, in its order`() throws {
        let rows = try page.table(["stage", "what"])
        #expect(rows.map { $0[0] } == CheckStage.allCases.map { "`\($0.rawValue)`" })
    }

    @Test func `every damage is in the table, with its words and what a repair does`() throws {
        let rows = try page.table(["damage", "what was found", "repair"])
        #expect(rows.map { $0[0] } == Damage.allCases.map { "`\($0.rawValue)`" })
        #expect(rows.map { $0[1] } == Damage.allCases.map(\.words))
        let repairs = Set(rows.flatMap { $0[2].quotedWords })
        #expect(repairs == Set(Repair.allCases.map(\.rawValue)))
    }

    @Test func `the bounds in words are those of the code`() {
        #expect(page.text.contains("at \(Limits.queryBatch) rows at most"))
        let bounds = [
            "\(Limits.contentBytesPerCheck) bytes", "\(Limits.queryBatch) files",
            "or \(Limits.findingsPerCheck) damaged",
        ]
        for bound in bounds { #expect(page.text.contains(bound)) }
        #expect(page.text.contains("the first \(Limits.rangesPerFinding)"))
    }
}
