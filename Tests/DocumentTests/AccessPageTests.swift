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

    @Test func `every method is in the table, with the verbs that the gate wants`() throws {
        let rows = try page.table(["methods", "verbs"], below: "## Methods")
        var seen: Set<String> = []
        for row in rows {
            for name in row[0].quotedWords {
                seen.insert(name)
                let method = try #require(Method(rawValue: name))
                if Self.varying.contains(method) { continue }
                let verbs = Gate.verbs(for: method, [:]).map(\.rawValue)
                #expect(Set(row[1].quotedWords) == Set(verbs), "\(name)")
            }
        }
        #expect(seen == Set(Method.allCases.map(\.rawValue)))
    }

    @Test func `what an administrator may do without another verb is that of the page`() throws {
        let line = try page.section("## Methods").first { $0.hasPrefix("`admin` suffices") }
        let named = Set(try #require(line).description.quotedWords).subtracting(["admin"])
        #expect(named == Set(Method.allCases.filter(\.isAdministered).map(\.rawValue)))
    }

    /// What looks or changes as its parameters say, in the order of its rows.
    private static let varying: [Method] = [
        .accessList, .contextAuthenticate, .entitlementExplain, .vaultWatch, .fileOpen,
    ]
    private static let varieties: [JSONObject] = [
        ["mine": true], ["factor": "applicationPassword"], ["factor": "passcode"], [:], ["pid": 1], [:],
        ["items": true], ["audit": true],
        ["access": "read"],
        ["access": "write"],
        ["access": "readWrite"],
    ]

    @Test func `what varies has a row for each variety`() throws {
        let rows = try page.table(["methods", "verbs"], below: "## Methods").filter { row in
            Self.varying.contains { row[0].quotedWords == [$0.rawValue] }
        }
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

    /// The methods that are described here, and not on the page of the protocol.
    static let methods: [Method] = [.entitlementExplain, .entitlementList]

    @Test(arguments: methods)
    func `a method that asks is described: where it runs, what it takes and what it answers`(method: Method) throws {
        let states = try page.table(["method"] + VaultState.allCases.map(\.rawValue), below: "## Asking")
        #expect(states.flatMap { $0[0].quotedWords } == Self.methods.map(\.rawValue))
        for (place, state) in VaultState.allCases.enumerated() {
            #expect(states[0][place + 1] == "yes" && Gate.refusal(of: method, in: state) == nil)
        }
        let rows = try page.table(["method", "parameters", "result"], below: "## Asking")
        let row = try #require(rows.first { $0[0].quotedWords == [method.rawValue] })
        #expect(row[1].quotedWords == ProtocolParametersTests.parametersRead(by: method))
        #expect(ProtocolParametersTests.parametersMissed(by: method) == [])
        let entitlement = Entitlement(
            path: "",
            line: 1,
            clients: [],
            groups: [],
            verbs: [],
            protection: .file(.complete)
        )
        let answers: [Method: [any WireObject]] = [
            .entitlementList: [EntitlementPage(entitlements: [], trouble: "", next: 1), entitlement],
            .entitlementExplain: [
                AccessExplanation(
                    client: ClientIdentity(userID: 1, groupID: 1),
                    path: "",
                    line: 1,
                    reason: "",
                    isRefused: true,
                    groups: [],
                    reachesAllGroups: true,
                    programGroup: "",
                    verbs: [],
                    protection: .file(.complete),
                    credential: CredentialAnswer(name: "", refusal: AuditedRefusal(.io, ""), protection: nil)
                )
            ],
        ]
        for answer in try #require(answers[method]) {
            let members = Set(answer.json.members.map(\.key))
            #expect(members.isSubset(of: row[2].quotedWords), "\(members.subtracting(row[2].quotedWords))")
        }
        if method == .entitlementList { return }
        let client = ClientIdentity(
            processID: 1,
            userID: 1,
            groupID: 1,
            supplementaryGroupIDs: [1],
            isContained: true,
            machine: ""
        )
        let recorded = Set(client.recorded.json.members.map(\.key))
        let members = Set(client.json.members.map(\.key)).subtracting(recorded)
        #expect(members.isSubset(of: row[2].quotedWords), "\(members)")
    }
}
