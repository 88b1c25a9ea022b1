import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// One store of every version that left the building: each build has to open them all.
@Suite struct FrozenStoreTests {
    @Test(arguments: ["v1"])
    func `a vault that an earlier build made opens in this one`(version: String) throws {
        let directory = try TemporaryDirectory()
        let state = directory.appending("state")
        let copied = try runCommand("/bin/cp", ["-r", "\(Project.root)/Tests/Vectors/stores/\(version)", state])
        try #require(copied.status == 0)
        // A checkout does not keep the modes that the daemon insists on.
        try #require(chmod(state, 0o700) == 0)
        for name in ["device.key", "keybag", "vault.sqlite"] { try #require(chmod("\(state)/\(name)", 0o600) == 0) }
        let daemon = try DaemonProcess(in: directory)
        let client = try daemon.connect()
        #expect(try client.status().state == .beforeFirstUnlock)
        try client.unlock("frozen passcode")
        let letter = Array(String(repeating: "coffer frozen store v1\n", count: 3000).utf8)
        #expect(try client.get("frozen/secret") == Array("a secret of version 1".utf8))
        #expect(try client.get("frozen/token") == Array("after first unlock".utf8))
        #expect(try client.get("frozen/letter") == letter)
        #expect(try client.get("frozen/recording") == letter)
        let items = try client.list().items.map { "\($0.name) \($0.protection.name)" }
        #expect(
            items == [
                "frozen/letter complete", "frozen/recording completeUnlessOpen", "frozen/secret WhenUnlocked",
                "frozen/token AfterFirstUnlock",
            ]
        )
        // And goes on from there.
        try client.put("frozen/secret", Array("a newer one".utf8))
        #expect(try client.get("frozen/secret") == Array("a newer one".utf8))
    }
}
