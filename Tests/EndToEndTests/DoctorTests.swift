import CofferCore
import CofferDatabase
import CofferTestSupport
import Foundation
import Testing

/// `coffer doctor`, with the real programs on a vault that was really damaged.
@Suite struct DoctorTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        #expect(try daemon.coffer(["init", "--no-passcode", "--no-recovery-key"]).status == 0)
        for name in ["a", "b", "c"] {
            #expect(try daemon.coffer(["put", "service/\(name)"], input: Array("secret \(name)".utf8)).status == 0)
        }
        let put = try daemon.coffer(["put", "dir/letter", "--kind", "document"], input: Array("a letter".utf8))
        #expect(put.status == 0)
    }

    /// Changes the catalog while no daemon runs.
    private func tamper(_ body: (Connection) throws -> Void) throws {
        daemon.stop()
        do {
            let connection = try Connection(path: "\(daemon.statePath)/vault.sqlite")
            try connection.transaction { try body(connection) }
        }
        try daemon.restart()
    }

    private func expect(_ arguments: String..., status: Int32, _ texts: String...) throws {
        let result = try daemon.coffer(arguments)
        #expect(result.status == status, "\(arguments): \(result.text)\(result.errors)")
        for text in texts { #expect((result.text + result.errors).contains(text), "\(arguments): \(result.text)") }
    }

    @Test func `an intact vault is reported as such, with what was checked`() throws {
        try expect(
            "doctor",
            status: 0,
            "keychain items (3)",
            "files and directories (2)",
            "contents of files (1)",
            "all is well"
        )
        try expect("doctor", "--repair", status: 0, "all is well")
        try expect("doctor", "--restore", status: 0, "put back 0 of 0")
        try expect("doctor", "--discard", "--yes", status: 0, "nothing is in quarantine")
    }

    @Test func `a damaged former value is named, costs no other, and goes with its item to the trash and back`() throws
    {
        for value in ["second", "third", "fourth"] {
            #expect(try daemon.coffer(["put", "service/a"], input: Array(value.utf8)).status == 0)
        }
        try tamper { try $0.execute("UPDATE past SET sealed = zeroblob(length(sealed)) WHERE number = 2") }
        for _ in 1...2 {
            try expect("history", "service/a", status: 65, "1 of the former values can't be read")
            try expect("history", "service/a", "--ago", "1", status: 0, "third")
            try expect("history", "service/a", "--ago", "2", status: 0, "secret a")
            try expect("doctor", "--repair", status: 65, "former value", "service/a", "it can only be removed")
            try expect("get", "service/a", status: 0, "fourth")
            try expect("remove", "service/a", status: 0)
            try expect("trash", "restore", "service/a", status: 0)
        }
        try expect("keychain", "update", "--service", "service", "--account", "a", "--history", "0", status: 0)
        try expect("doctor", status: 0, "all is well")
    }

    @Test func `damage is named, quarantined, restored when it is intact, and destroyed when that is requested`()
        throws
    {
        var kept: [(row: Int64, secret: [UInt8], metadata: [UInt8])] = []
        try tamper { connection in
            try connection.rows("SELECT id, secret, metadata FROM keychain_items") { row in
                kept.append((row: try row.integer(0), secret: try row.blob(1), metadata: try row.blob(2)))
                return true
            }
            try connection.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 1")
            try connection.execute("UPDATE keychain_items SET metadata = x'00' WHERE id = 2")
            try connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE kind = 1")
        }
        // Everything else answers.
        try expect("get", "service/c", status: 0, "secret c")
        try expect("get", "service/a", status: 65)
        try expect("list", status: 65, "service/c", "'coffer doctor' names them")
        try expect("keychain", "find", "--all", status: 0, "service  c", "warning: 2 damaged items were passed over")
        try expect(
            "doctor",
            status: 65,
            "keychain item 'service/a'",
            "its secret is not the one that its metadata names",
            "its metadata is not authentic",
            "file or directory 'letter': its item or directory is missing or damaged",
            "'coffer doctor --repair'"
        )
        try expect("doctor", "--repair", status: 0, "keychain item 'service/a'", "moved into quarantine")
        // Their names are free, and what the directory held is there.
        try expect("list", status: 0, "recovered-", "/letter")
        try expect("doctor", status: 0, "in quarantine: 3", "all is well")
        try expect("keychain", "find", "--all", status: 0, "service  c")
        #expect(try daemon.coffer(["put", "service/b"], input: Array("another".utf8)).status == 0)
        try tamper { connection in
            for former in kept {
                try connection.execute(
                    "UPDATE keychain_quarantine SET secret = ?, metadata = ? WHERE row = ?",
                    .blob(former.secret),
                    .blob(former.metadata),
                    .integer(former.row)
                )
            }
        }
        try expect("doctor", status: 0, "in quarantine: 3; 1 of them can be put back by --restore")
        try expect(
            "doctor",
            "--restore",
            status: 0,
            "put back: keychain item 'service/a'",
            "stays: keychain item 'service/b'",
            "there is another item in its place"
        )
        try expect("get", "service/a", status: 0, "secret a")
        try expect("get", "service/b", status: 0, "another")
        try expect("doctor", "--discard", "--yes", status: 0, "destroyed 2")
        let json = try daemon.coffer(["doctor", "--json"])
        #expect(json.status == 0)
        let summary = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any])
        #expect(summary["damaged"] as? Int == 0)
        #expect(summary["inQuarantine"] as? Int == 0)
        #expect((summary["checked"] as? [String: Int])?["keychainItems"] == 3)
    }

    @Test func `a repair outlives the daemon's end the moment it was answered`() throws {
        try tamper { try $0.execute("UPDATE keychain_items SET metadata = x'00' WHERE id = 1") }
        try expect("doctor", "--repair", status: 0)
        try daemon.restart()
        try expect("doctor", status: 0, "in quarantine: 1", "all is well")
    }

    @Test func `JSON has a line for each finding, and one that sums up`() throws {
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 1") }
        let result = try daemon.coffer(["doctor", "--json"])
        #expect(result.status == 65)
        let lines = try result.text.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        try #require(lines.count == 3)
        #expect(lines[0]["damage"] as? String == "exchangedSecret")
        #expect(lines[0]["name"] as? String == "'service/a'")
        #expect((lines[1]["what"] as? String)?.contains("was not repaired") == true)
        #expect(lines[2]["damaged"] as? Int == 1)
        #expect(lines[2]["faults"] as? Int == 1)
    }

    @Test func `one thing is done at a time, and nothing is destroyed unasked`() throws {
        try expect("doctor", "--repair", "--discard", status: 64)
        try expect("doctor", "--yes", status: 64)
    }
}
