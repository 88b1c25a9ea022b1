import CofferCore
import CofferService
import CofferVault
import CofferWire
import Testing

/// The tables of `proto-docs/ACCESS.md`.
@Suite struct AccessPageTests {
    private let page: Page

    init() throws { page = try Page("ACCESS.md") }

    @Test func `every verb is in the table`() throws {
        let rows = try page.table(["verb", "what"], below: "## Verbs")
        #expect(rows.map { $0[0].quotedWords } == Verb.allCases.map { [$0.rawValue] })
    }

    @Test func `every setting is in the table, and the example is one`() throws {
        let rows = try page.table(["setting", "what"], below: "## Entitlements")
        #expect(rows.map { $0[0].quotedWords } == Entitlement.settings.map { [$0] })
        let example = try #require(page.blocks("").first).joined(separator: "\n")
        let found = try Entitlement.all(in: [("example", Array(example.utf8))]) { (_) throws(CofferError) in
            34
        } groupID: { (_) throws(CofferError) in
            35
        }
        #expect(found.map(\.clients) == [[.unit("backup.service"), .user(34)]])
        #expect(found.map(\.verbs) == [[.read]])
    }

    /// The parameters of the rows, in their order.
    private static let varieties: [JSONObject] = [
        ["mine": true], ["factor": "applicationPassword"], ["factor": "passcode"], [:], ["pid": 1], [:],
        ["items": true], ["audit": true],
        ["access": "read"],
        ["access": "write"],
        ["access": "readWrite"],
    ]

    @Test func `what varies has a row for each variety`() throws {
        let rows = try page.table(["methods", "verbs"], below: "## Methods")
        try #require(rows.count == Self.varieties.count)
        for (row, params) in zip(rows, Self.varieties) {
            let method = try #require(row[0].quotedWords.first.flatMap(Method.init))
            let verbs = Gate.verbs(for: method, params).map(\.rawValue)
            #expect(Set(row[1].quotedWords) == Set(verbs), "\(row[0])")
        }
    }

    @Test func `the default rule is that of the code`() throws {
        let rows = try page.table(["client", "group", "verbs"], below: "## Without entitlements")
        let system = ClientIdentity(userID: 990, groupID: 990, unit: "cofferd.service")
        let clients = [
            ClientIdentity(userID: 0, groupID: 0, unit: "NAME.service"),
            ClientIdentity(userID: 990, groupID: 990, unit: "user@990.service", userUnit: "NAME.service"),
            ClientIdentity(userID: 990, groupID: 990, isContained: true),
            ClientIdentity(userID: 990, groupID: 990),
            ClientIdentity(userID: 0, groupID: 0),
        ]
        try #require(rows.count == clients.count)
        for (row, client) in zip(rows, clients) {
            guard let rights = try? AccessPolicy(daemon: system).rights(of: client) else {
                #expect(row[1] == "–" && row[2].quotedWords == ["missingEntitlement"])
                continue
            }
            #expect(rights.groups == row[1].quotedWords.map { $0.replacing("NAME", with: "NAME.service") })
            let verbs = Verb.allCases.filter(rights.verbs.contains).map(\.rawValue)
            #expect(row[2] == (verbs.count == Verb.allCases.count ? "all" : verbs.joined(separator: ", ")))
        }
    }
}
