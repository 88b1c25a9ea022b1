import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/AUDIT.md`.
@Suite struct AuditPageTests {
    private let page: Page

    init() throws { page = try Page("AUDIT.md") }

    /// The methods that are on this page, and not on the other.
    static let methods: [Method] = [.auditList, .auditVerify]

    private static let record = AuditRecord(
        number: 1,
        time: 1,
        client: ClientIdentity(userID: 1, groupID: 1, unit: "", userUnit: "", executablePath: ""),
        action: "",
        items: [AuditedItem(name: "", group: "", reference: ItemID())],
        itemCount: 2,
        state: .locked,
        refusal: AuditedRefusal(.io, ""),
        reason: "",
        count: 2
    )

    @Test func `the members of a record are in the table, and of what is in it`() throws {
        let rows = try page.table(["member", "type", "what"])
        let json = Self.record.json
        #expect(Set(rows.flatMap { $0[0].quotedWords }) == Set(json.members.map(\.key)))
        let described = Dictionary(uniqueKeysWithValues: rows.map { ($0[0].quotedWords[0], Set($0[2].quotedWords)) })
        for (name, object) in [("client", Self.record.client?.json), ("refusal", Self.record.refusal?.json)] {
            let members = try #require(object).members.map(\.key)
            #expect(described[name]?.isSuperset(of: members) == true, "\(name)")
        }
        #expect(described["items"] == Set(Self.record.items[0].json.members.map(\.key)))
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

    @Test func `the members of the results are on the page`() throws {
        let words = Set(page.text.quotedWords)
        var summary = AuditSummary()
        summary.unreadCount = 1
        summary.tallies = [AuditSummary.Tally(client: "", allowedCount: 1, refusedCount: 1)]
        let results: [any WireObject] = [
            AuditPage(records: [], next: 1, isDamaged: true, sealedCount: 1, summary: summary),
            summary, summary.tallies[0],
            AuditVerification(checkedCount: 1, sealedCount: 1, findings: [], next: 1),
        ]
        for result in results {
            let members = Set(result.json.members.map(\.key))
            #expect(members.isSubset(of: words), "\(members.subtracting(words))")
        }
    }

    @Test func `a record is the same when it was written and read`() throws {
        let again = try AuditRecord(result: .object(Self.record.json))
        #expect(again == Self.record)
    }
}
