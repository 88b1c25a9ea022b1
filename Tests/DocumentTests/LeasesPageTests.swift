import CofferCore
import CofferService
import CofferVault
import CofferWire
import Testing

/// The tables of `proto-docs/LEASES.md`.
@Suite struct LeasesPageTests {
    private let page: Page

    init() throws { page = try Page("LEASES.md") }

    /// The methods that are on this page, and on no other.
    static let methods: [Method] = [.leaseGrant, .leaseList, .leaseRevoke]

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
            described.contains { $0[0].quotedWords == [name] && $0[3] == "required" }
        }
        #expect(required == ProtocolParametersTests.parametersMissed(by: method))
    }

    @Test func `the members of the results are on the page`() throws {
        let rows = try page.table(["method", "parameters", "result"])
        let info = LeaseInfo(
            number: 1,
            name: "a",
            group: "c",
            client: .user(1),
            seconds: 1,
            uses: 1,
            reason: "b",
            granted: 1
        )
        let results: [(Method, [JSONObject])] = [
            (.leaseGrant, [LeaseGrantResult(number: 1).json]),
            (.leaseList, [LeasePage(leases: [], next: 1, damaged: []).json, info.json]),
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

    @Test func `the methods that a lease allows are those of the page`() throws {
        let words = try page.section("## What a lease allows").joined(separator: " ").quotedWords
        let allowed = Method.allCases.filter(\.isLeasable).map(\.rawValue)
        #expect(Method.allCases.map(\.rawValue).filter(words.contains) == allowed)
    }
}
