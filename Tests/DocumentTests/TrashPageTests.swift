import CofferCore
import CofferVault
import CofferWire
import Testing

/// The tables of `proto-docs/TRASH.md`.
@Suite struct TrashPageTests {
    private let page: Page

    init() throws { page = try Page("TRASH.md") }

    /// The methods that are on this page, and on no other.
    static let methods: [Method] = [.trashEmpty, .trashList, .trashRestore]

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
        #expect(row[1].quotedWords == ProtocolParametersTests.parametersRead(by: method))
        let described = try page.table(["parameter", "type", "bounds", "default"])
        let required = row[1].quotedWords.filter { name in
            described.contains { $0[0].quotedWords == [name] && $0[3].contains("required by `\(method.rawValue)`") }
        }
        #expect(required == ProtocolParametersTests.parametersMissed(by: method))
    }

    @Test func `the members of the results are on the page`() throws {
        let rows = try page.table(["method", "parameters", "result"])
        let item = TrashedItem(
            number: 1,
            name: "a",
            store: .keychain,
            itemClass: .key,
            accessibility: .whenUnlocked,
            protectionClass: .complete,
            kind: .token,
            byteCount: 1,
            removed: 1,
            secondsLeft: 1
        )
        let results: [(Method, [JSONObject])] = [
            (.trashEmpty, [CountResult(count: 1).json]),
            (.trashList, [TrashPage(items: [], next: 1, damaged: []).json, item.json]),
        ]
        for (method, objects) in results {
            let row = try #require(rows.first { $0[0].quotedWords == [method.rawValue] })
            let named = Set(row[2].quotedWords)
            for object in objects {
                let members = Set(object.members.map(\.key))
                #expect(members.isSubset(of: named), "\(method): \(members.subtracting(named))")
            }
        }
    }

    @Test func `what the trash keeps by default is on the page`() throws {
        #expect(page.text.contains("**\(Limits.defaultTrashDays) days**"))
        #expect(page.text.contains("holds \(Limits.defaultTrashBytes >> 30) GiB"))
    }
}
