import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/DOCTOR.md`.
@Suite struct DoctorPageTests {
    private let page: Page

    init() throws { page = try Page("DOCTOR.md") }

    /// The methods that are on this page, and not on the other.
    static let methods: [Method] = [.vaultCheck, .vaultQuarantine]

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

    @Test(arguments: methods, VaultState.allCases)
    func `the table of states is the gate`(method: Method, state: VaultState) throws {
        let rows = try page.stateRows(below: "## Methods")
        #expect(rows.flatMap { $0[0].quotedWords } == Self.methods.map(\.rawValue))
        try Page.expectGate(method, in: state, rows)
    }

    @Test(arguments: methods)
    func `the parameters of the page are those that the method reads, in their order`(method: Method) throws {
        let rows = try page.table(["method", "parameters", "result"])
        let row = try #require(rows.first { $0[0].quotedWords == [method.rawValue] })
        let known = ProtocolParametersTests.parametersRead(by: method)
        #expect(row[1].quotedWords == known)
        let described = try page.table(["parameter", "type", "bounds", "default"]).flatMap { $0[0].quotedWords }
        #expect(Set(described).isSuperset(of: known))
        #expect(ProtocolParametersTests.parametersMissed(by: method) == [])
    }

    @Test func `the members of the results, and the words of the parameters, are on the page`() throws {
        let words = Set(page.text.quotedWords)
        let finding = Finding(
            .contents,
            reference: ItemID(),
            name: "",
            .content,
            repair: .salvage,
            isRepaired: false,
            damaged: [DamagedRange(offset: 1, byteCount: 1)],
            damagedByteCount: 1
        )
        let entry = QuarantineEntry(
            store: .file,
            number: 1,
            stage: .files,
            reference: ItemID(),
            name: "",
            damage: .row,
            moved: 1,
            obstacle: ""
        )
        let check = CheckPage(
            stage: .files,
            checkedCount: 1,
            sealedCount: 1,
            quarantinedCount: 1,
            byteCount: 1,
            findings: [],
            cursor: ""
        )
        let results: [any WireObject] = [finding, entry, check, QuarantinePage(entries: [], cursor: "")]
        for result in results {
            let members = Set(result.json.members.map(\.key))
            #expect(members.isSubset(of: words), "\(members.subtracting(words))")
        }
        let taken = Set(QuarantineAction.allCases.map(\.rawValue) + StoreName.allCases.map(\.rawValue))
        #expect(taken.isSubset(of: words))
        #expect(page.text.contains("at \(Limits.queryBatch) rows at most"))
        let bounds = [
            "\(Limits.contentBytesPerCheck) bytes", "\(Limits.queryBatch) files",
            "or \(Limits.findingsPerCheck) damaged",
        ]
        for bound in bounds { #expect(page.text.contains(bound)) }
        #expect(page.text.contains("the first \(Limits.rangesPerFinding)"))
    }
}
