import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `coffer simulate`: what `coffer explain` says of one item, for all.
@Suite struct SimulateTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("a/token", [1])
        try client.put("b/job", [2]) { $0.accessibility = .afterFirstUnlock }
        try client.put("c/scan", pseudoRandomBytes(5000)) { $0.protectionClass = .complete }
        try client.put("d/log", pseudoRandomBytes(5000)) { $0.protectionClass = ProtectionClass.none }
        return daemon
    }

    private func lines(_ daemon: DaemonProcess, _ options: String...) throws -> [String] {
        let result = try daemon.coffer(["simulate"] + options)
        #expect(result.status == 0, "\(result.errors)")
        return result.text.split(separator: "\n").map { line in
            line.split(separator: " ").joined(separator: " ")
        }
    }

    @Test func `every item has its line, by name, and what would be locked is said to be`() throws {
        let daemon = try vault()
        #expect(
            try lines(daemon, "--state", "locked") == [
                "get put remove store readable name", "locked locked yes keychain while unlocked a/token",
                "yes yes yes keychain after first unlock b/job", "locked locked yes file while unlocked c/scan",
                "yes yes yes file always d/log",
            ]
        )
        #expect(try lines(daemon).dropFirst().allSatisfy { $0.hasPrefix("yes yes yes ") })
        #expect(try lines(daemon, "--state", "beforeFirstUnlock")[2].hasPrefix("locked locked locked keychain"))
        #expect(try lines(daemon, "--as", "uid:12345").dropFirst().allSatisfy { $0.hasPrefix("denied denied denied ") })
        #expect(try daemon.coffer(["simulate", "--state", "open"]).status == 64)
        #expect(try daemon.coffer(["simulate", "--as", "somebody"]).status == 64)
    }

    @Test(arguments: VaultState.allCases)
    func `it is what explain says of each item, page by page`(state: VaultState) throws {
        let daemon = try vault()
        let client = try daemon.connect()
        for name in [nil, try ClientPattern("uid:12345")] {
            var found: [SimulatedItem] = []
            var after: String?
            repeat {
                let params = ItemSimulateParameters(state: state, client: name, after: after, limit: 1)
                let page = try client.call(params).value
                #expect(page.items.count <= 1 && page.damagedCount == 0)
                found += page.items
                after = page.next
            } while after != nil
            #expect(found.map(\.name).sorted() == ["a/token", "b/job", "c/scan", "d/log"])
            for item in found {
                let params = ItemExplainParameters(name: try ItemName(item.name), state: state, client: name)
                let explained = try client.call(params).value
                #expect(explained.stored?.protection == item.protection)
                #expect(
                    [item.read, item.write, item.remove] == [
                        explained.access.read, explained.access.write, explained.access.remove,
                    ]
                )
            }
        }
        withExtendedLifetime(daemon) {}
    }
}
