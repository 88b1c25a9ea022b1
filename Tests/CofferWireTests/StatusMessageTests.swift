import CofferCore
import CofferWire
import Testing

/// The state of a vault, as it travels.
@Suite struct StatusMessageTests {
    private func status(_ faults: [VaultFault]) -> VaultStatus {
        VaultStatus(state: .unlocked, keychainCount: 1, fileCount: 2, graceMilliseconds: nil, faults: faults)
    }

    @Test func `the faults of a vault come back as they were`() throws {
        let status = status([VaultFault(what: "one", hint: "do this"), VaultFault(what: "two", hint: "do that")])
        #expect(try VaultStatus(result: .object(status.json)) == status)
    }

    @Test func `a status without faults says nothing of them, and is read as one`() throws {
        let status = status([])
        #expect(status.json["faults"] == nil)
        #expect(try VaultStatus(result: .object(status.json)).faults == [])
    }

    @Test(arguments: [
        JSONValue.string("broken"), .array([.string("broken")]), .array([.object(["what": .string("broken")])]),
    ])
    func `faults that are none are refused`(faults: JSONValue) throws {
        var object = status([]).json
        object.set("faults", faults)
        #expect(throws: CofferError.self) { try VaultStatus(result: .object(object)) }
    }
}
