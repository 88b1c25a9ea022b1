import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `coffer status --blockers`: who uses the vault, and what a lock ends.
@Suite struct BlockersTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("a/token", [1])
        try client.put("b/job", [2]) { $0.accessibility = .afterFirstUnlock }
        for (name, protection) in [("complete", ProtectionClass.complete), ("open", .completeUnlessOpen)] {
            try client.put("c/\(name)", pseudoRandomBytes(5000)) { $0.protectionClass = protection }
        }
        return daemon
    }

    @Test func `nothing blocks an idle vault, and what a lock takes is named`() throws {
        let daemon = try vault()
        let idle = try daemon.coffer(["status", "--blockers"]).text
        #expect(idle.hasPrefix("state:     unlocked"))
        #expect(
            idle.hasSuffix(
                """
                no file is open, and no transfer runs
                a lock now makes 3 items unreadable
                  a/token  (keychain: while unlocked)
                  c/complete  (file store: while unlocked)
                  c/open  (file store: while unlocked, written at any time)

                """
            ),
            "\(idle)"
        )
        _ = try daemon.connect().lock(graceSeconds: 0)
        #expect(try daemon.coffer(["status", "--blockers"]).text.hasSuffix("a lock now makes 0 items unreadable\n"))
        #expect(try !daemon.coffer(["status"]).text.contains("unreadable"))
    }

    @Test func `open files, transfers and rules that end are named with their processes`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        let reader = try client.openFile(try ItemName("c/complete"))
        let writer = try client.openFile(try ItemName("c/open"), for: .write)
        daemon.openToOthers()
        _ = try daemon.coffer(["grant", "a/token", "--to", "uid:12345", "--for", "1h"])
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "\(Project.binaries)/coffer")
        process.arguments = ["put", "d/stream"]
        process.environment = ["COFFER_SOCKET": daemon.socketPath]
        process.standardInput = pipe
        try process.run()
        try pipe.fileHandleForWriting.write(contentsOf: Data(pseudoRandomBytes(100_000)))
        func shown() throws -> String { try daemon.coffer(["status", "--blockers"]).text }
        #expect(try settles { try shown().contains("runs item.put of 'd/stream'") })
        let text = try shown()
        #expect(text.contains("\nprocess \(getpid()) of "), "\(text)")
        #expect(text.contains(" reads the open file 'c/complete', which a lock ends\n"), "\(text)")
        #expect(text.contains(" writes the open file 'c/open'\n"), "\(text)")
        #expect(text.contains("process \(process.processIdentifier) of "), "\(text)")
        let rule = /\nrule 1  allow  user 12345  read  default  a\/token  in (1 h|\d+ min), with the item\n/
        #expect(text.contains(rule), "\(text)")
        let json = try daemon.coffer(["status", "--blockers", "--json"]).text.split(separator: "\n")
        #expect(json.count { $0.hasPrefix(#"{"blocker":{"connection":"#) } == 3)
        #expect(json.count { $0.hasPrefix(#"{"rule":{"rule":1,"#) } == 1)
        #expect(json.count { $0.hasPrefix(#"{"unreadable":{"name":"#) } == 3)
        try reader.close()
        try writer.close()
        try pipe.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(try shown().contains("no file is open, and no transfer runs"))
    }

    @Test func `many open files come in pages`() throws {
        let daemon = try vault()
        let clients = try (0..<3).map { _ in try daemon.connect() }
        let files = try clients.map { client in
            try (0..<5).map { _ in try client.openFile(try ItemName("c/complete")) }
        }
        let all = try clients[0].call(VaultBlockersParameters()).value
        #expect(all.blockers.count == 15 && all.next == nil)
        #expect(all.blockers.map(\.connection) == all.blockers.map(\.connection).sorted())
        #expect(Set(all.blockers.map(\.connection)).count == 3)
        let later = try clients[0].call(VaultBlockersParameters(after: Int64.max / 2)).value
        #expect(later.blockers.isEmpty)
        withExtendedLifetime(files) {}
    }
}
