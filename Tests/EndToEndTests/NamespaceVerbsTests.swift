import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `coffer list` and `coffer move`, through the real programs.
@Suite struct NamespaceVerbsTests {
    private static func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("health/weight", [1, 2])
        try client.put("health/2026/report", pseudoRandomBytes(5000)) { $0.protectionClass = .complete }
        try client.put("token", [3]) { $0.accessibility = .afterFirstUnlock }
        return daemon
    }

    @Test func `list takes a prefix or a pattern`() throws {
        let daemon = try Self.vault()
        func lines(_ arguments: String...) throws -> [String] {
            let result = try daemon.coffer(["list"] + arguments)
            #expect(result.status == 0)
            return result.text.split(separator: "\n").map(String.init)
        }
        #expect(try lines() == ["health/2026/report", "health/weight", "token"])
        #expect(try lines("health/") == ["health/2026/report", "health/weight"])
        #expect(try lines("health/*") == ["health/weight"])
        #expect(try lines("health/**", "--store", "file") == ["health/2026/report"])
        #expect(try lines("t?ken") == ["token"])
        #expect(try lines("nothing*") == [])
    }

    @Test func `list shows what an item is, its protection, size and what can be read now, to people and to programs`()
        throws
    {
        let daemon = try Self.vault()
        _ = try daemon.connect().lock(graceSeconds: 0)
        let long = try daemon.coffer(["list", "--long"]).text.split(separator: "\n").map { line in
            line.split(separator: " ").map(String.init)
        }
        let columns = long.map { Array($0.prefix(3)) + [$0.last ?? ""] }
        #expect(
            columns == [
                ["file", "locked", "while", "health/2026/report"],
                ["secret", "locked", "while", "health/weight"],
                ["secret", "readable", "after", "token"],
            ]
        )
        let json = try daemon.coffer(["list", "--json"]).text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(json.compactMap { $0["size"] as? Int } == [5000, 2, 1])
        #expect(json.compactMap { $0["store"] as? String } == ["file", "keychain", "keychain"])
        #expect(json.compactMap { $0["readable"] as? Bool } == [false, false, true])
    }

    @Test func `move renames an item, or exits with the code of the obstacle`() throws {
        let daemon = try Self.vault()
        let moved = try daemon.coffer(["move", "token", "api/token"])
        #expect(moved.status == 0)
        #expect(moved.text.isEmpty)
        #expect(try daemon.coffer(["get", "api/token"]).output == [3])
        #expect(try daemon.coffer(["move", "token", "elsewhere"]).status == 66)
        #expect(try daemon.coffer(["move", "api/token", "health/weight"]).status == 73)
        let directory = try daemon.coffer(["move", "health/2026", "elsewhere"])
        #expect(directory.status == 64)
        #expect(directory.errors.contains("coffer file move"))
        let replaced = try daemon.coffer(["move", "api/token", "health/2026/report", "--replace", "--json"])
        #expect(replaced.status == 0)
        #expect(replaced.text.contains("\"store\":\"keychain\""))
        #expect(try daemon.coffer(["list"]).text == "health/2026/report\nhealth/weight\n")
    }

    @Test func `a kill in the middle of moves leaves one item, by one of its names`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: nil)
        try daemon.connect().put("0/secret", [7]) { $0.store = .keychain }
        try daemon.connect().put("0/file", [8]) { $0.store = .file }
        let end = ContinuousClock.now + .seconds(5)
        var round = 0
        while ContinuousClock.now < end {
            let client = try daemon.connect()
            let names = try client.list().items.map(\.name)
            #expect(Set(names.map { $0.hasSuffix("file") }) == [true, false])
            #expect(names.count == 2)
            for name in names { #expect(try client.get(name) == [name.hasSuffix("file") ? 8 : 7]) }
            let mover = Background {
                var last = names
                for step in 1...1000 {
                    for index in last.indices {
                        let target = "\(step)/\(last[index].hasSuffix("file") ? "file" : "secret")"
                        if last[index] == target { continue }
                        do { try client.move(try ItemName(last[index]), to: try ItemName(target)) } catch { return }
                        last[index] = target
                    }
                }
            }
            sleepSeconds(Double((round * 37) % 50) / 1000 + 0.002)
            daemon.kill()
            try mover.wait()
            try daemon.restart()
            round += 1
        }
        #expect(round > 3)
    }
}
