import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/SNAPSHOTS.md`.
@Suite struct SnapshotsPageTests {
    private let page: Page

    init() throws { page = try Page("SNAPSHOTS.md") }

    /// The methods that are on this page, and on no other.
    static let methods = Method.allCases.filter { $0.rawValue.hasPrefix("backup.") }

    private func row(of method: Method) throws -> [String] {
        let rows = try page.table(["method", "parameters", "payload", "result"])
        return try #require(rows.first { $0[0].quotedWords == [method.rawValue] })
    }

    @Test(arguments: methods, VaultState.allCases)
    func `the table of states is the gate`(method: Method, state: VaultState) throws {
        let rows = try page.stateRows(below: "## Methods")
        #expect(rows.flatMap { $0[0].quotedWords } == Self.methods.map(\.rawValue))
        try Page.expectGate(method, in: state, rows)
    }

    @Test(arguments: methods)
    func `the parameters of the page are those that the method reads, in their order`(method: Method) throws {
        let names = try row(of: method)[1].quotedWords
        #expect(names == ProtocolParametersTests.parametersRead(by: method))
        let described = try page.table(["parameter", "type", "bounds", "default"])
        let required = names.filter { name in
            described.contains { $0[0].quotedWords == [name] && $0[3] == "required" }
        }
        #expect(required == ProtocolParametersTests.parametersMissed(by: method))
        #expect(names.allSatisfy { name in described.contains { $0[0].quotedWords == [name] } })
    }

    @Test func `the members of the results are on the page`() throws {
        let sizes = BackupSizes(
            vaultID: ItemID(),
            keybagByteCount: 1,
            anchorByteCount: 1,
            catalogByteCount: 1,
            newest: BackupReference(number: 1, digest: []),
            leftBehindCount: 1,
            isUnchanged: true
        )
        let content = BackupContent(id: ItemID(), byteCount: 1, overlayByteCount: 1)
        let status = BackupStatus(
            repository: "a",
            completed: 1,
            newest: nil,
            warnAfterSeconds: 1,
            isUnderWay: true,
            leftBehindCount: 1
        )
        let results: [(Method, JSONObject)] = [
            (.backupRegister, BackupRegistration(vaultID: ItemID(), publicKey: []).json), (.backupBegin, sizes.json),
            (.backupContents, BackupPage(contents: [], next: ItemID()).json), (.backupContents, content.json),
            (.backupStatus, BackupReference(number: 1, digest: []).json),
            (.backupRead, BackupBytes(byteCount: 1).json), (.backupStatus, status.json),
        ]
        for (method, result) in results {
            let named = Set(try row(of: method)[3].quotedWords)
            let members = Set(result.members.map(\.key))
            #expect(members.isSubset(of: named), "\(method): \(members.subtracting(named))")
        }
    }
}
