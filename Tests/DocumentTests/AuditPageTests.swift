import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/AUDIT.md`.
@Suite struct AuditPageTests {
    private let page: Page

    init() throws { page = try Page("AUDIT.md") }

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

    @Test func `a record is the same when it was written and read`() throws {
        let again = try AuditRecord(result: .object(Self.record.json))
        #expect(again == Self.record)
    }
}
