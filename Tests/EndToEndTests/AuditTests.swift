import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The audit as its reader meets it: by the command, after crashes, and on the disk.
@Suite struct AuditTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        #expect(try daemon.coffer(["init", "--no-passcode", "--no-recovery-key"]).status == 0)
    }

    private func lines(_ arguments: String...) throws -> [String] {
        let result = try daemon.coffer(["audit"] + arguments)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return result.text.split(separator: "\n").map(String.init)
    }

    private func expect(_ arguments: String..., status: Int32, _ texts: String...) throws {
        let result = try daemon.coffer(["audit"] + arguments)
        #expect(result.status == status, "\(arguments): \(result.text)\(result.errors)")
        for text in texts { #expect((result.text + result.errors).contains(text), "\(arguments): \(result.text)") }
    }

    @Test func `the command shows who did what, and picks what is asked for`() throws {
        _ = try daemon.coffer(["put", "site/token"], input: [1])
        for _ in 0..<2 { _ = try daemon.coffer(["get", "site/token", "--output", "token"]) }
        #expect(try daemon.coffer(["get", "nothing"]).status == 66)
        let user = "user:\(NSUserName())"
        let all = try lines()
        #expect(all.contains { $0.hasSuffix(" \(user) item.put 'site/token' in 'default'") })
        let refused = " \(user) item.get 'nothing' in 'default' refused: there is no item 'nothing'"
        #expect(all.contains { $0.hasSuffix(refused) })
        #expect(all.contains { $0.hasSuffix(" cofferd vault.state open, without a passcode") })
        let ofItem = try lines("--item", "site/token", "--since", "1h")
        #expect(ofItem.count >= 2 && ofItem.allSatisfy { $0.contains("'site/token'") })
        #expect(try lines("--refused").count == 1)
        #expect(try lines("--since", "2100-01-01") == [])
        #expect(try lines("--unit", "nobody.service") == [])
        #expect(try lines("--lines", "2").count == 2)
        for line in try lines("--json") {
            _ = try AuditRecord(result: try JSONValue(parsing: Array(line.utf8).span.bytes))
        }
        try expect("--verify", status: 0, " records, each as it was written")
        try expect("--verify", "--item", "a", status: 64, "--verify and --item can't be combined")
        try expect("--since", "soon", status: 64, "expected a date or a time ago")
    }

    // MARK: The passcode

    @Test func `before the first unlock, nothing of the audit can be read, and nothing is missing after it`() throws {
        let daemon = try DaemonProcess()
        let passcode = "a telling passcode"
        func run(_ arguments: String..., passcode: String? = nil, status: Int32 = 0) throws -> CommandResult {
            let result = try daemon.coffer(arguments, input: [1], passcode: passcode)
            #expect(result.status == status, "\(arguments): \(result.text)\(result.errors)")
            return result
        }
        let telling = "telling-\(ItemID().hexadecimal)"
        _ = try run("init", "--no-recovery-key", passcode: passcode)
        for name in ["a", "b"] { _ = try run("put", "\(telling)/\(name)") }
        try daemon.restart()
        // What is appended now is in the same audit.
        _ = try run("get", "\(telling)/a", status: 75)
        _ = try run("put", "\(telling)/d", "--kind", "document", "--protection", "completeUnlessOpen")
        let sealed = try run("audit")
        let words = try #require(
            sealed.text.wholeMatch(of: #/([0-9]+) records can be read after the first unlock.*\n/#)
        )
        let count = try #require(Int(words.1))
        #expect(count >= 7 && !sealed.errors.contains("warning"), "\(sealed.text)\(sealed.errors)")
        #expect(try run("audit", "--json").text.hasPrefix(#"{"sealedCount":"#))
        #expect(try run("audit", "--item", "\(telling)/a").text.contains(" can be read after the first unlock"))
        let verified = try run("audit", "--verify").text
        #expect(verified.contains(" records, each as it was written; "), "\(verified)")
        #expect(try run("audit", "--verify", "--json").text.contains(#""sealedCount":"#))
        // The device key is there, and all that it opens: the daemon has no more.
        daemon.stop()
        for name in try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath) {
            let bytes = FileManager.default.contents(atPath: "\(daemon.statePath)/\(name)") ?? Data()
            #expect(bytes.range(of: Data(telling.utf8)) == nil, "\(name)")
        }

        try daemon.restart()
        #expect(try run("audit").text.contains("can be read after the first unlock"))
        _ = try run("unlock", passcode: passcode)
        let all = try run("audit").text
        for part in ["put '\(telling)/a'", "put '\(telling)/b'", "get '\(telling)/a'", "put '\(telling)/d'"] {
            #expect(all.contains("item.\(part)"), "\(all)")
        }
        #expect(!all.contains("can be read after"))
        #expect(all.split(separator: "\n").count > count)
        #expect(try run("audit", "--verify").text.hasSuffix(" records, each as it was written\n"))
    }

    // MARK: Rollbacks

    private func doctor(_ arguments: String..., status: Int32, _ text: String) throws {
        let result = try daemon.coffer(["doctor"] + arguments)
        #expect(result.status == status, "\(arguments): \(result.text)\(result.errors)")
        #expect(result.text.contains(text), "\(arguments): \(result.text)")
    }

    @Test func `an audit that was emptied is found, until a repair takes note of it`() throws {
        for number in 0..<3 { _ = try daemon.coffer(["put", "a\(number)"], input: [1]) }
        daemon.stop()
        do {
            let connection = try Connection(path: "\(daemon.statePath)/vault.sqlite")
            try connection.execute("DELETE FROM audit_blocks")
            try connection.execute("DELETE FROM audit_head")
        }
        try daemon.restart()
        for _ in 0..<2 {
            try expect("--verify", status: 65, "the audit is older than the catalog", "the records 1 to ")
            try doctor(status: 65, "fault: the audit is older than the catalog")
            try daemon.restart()
        }
        #expect(try daemon.coffer(["status"]).text.contains("the audit is older than the catalog"))
        try doctor("--repair", status: 0, "fault: the audit is older than the catalog")
        try daemon.restart()
        try doctor(status: 0, "all is well")
        // What is missing stays so.
        try expect("--verify", status: 65, "the records 1 to ")
    }

    private func copy(_ names: [String], from place: String, to target: String) throws {
        for name in names {
            let result = try runCommand("/bin/cp", ["--preserve=mode", "\(place)/\(name)", "\(target)/\(name)"])
            try #require(result.status == 0)
        }
    }

    @Test(arguments: [["vault.sqlite"], ["vault.sqlite", "vault.sqlite-mark", "anchor"], ["anchor"]])
    func `a rollback of the catalog or the anchor is detected, and one of both is not`(names: [String]) throws {
        _ = try daemon.coffer(["put", "a"], input: [1])
        daemon.stop()
        let copies = try TemporaryDirectory()
        try copy(names, from: daemon.statePath, to: copies.path)
        try daemon.restart()
        _ = try daemon.coffer(["put", "b"], input: [1])
        daemon.stop()
        try copy(names, from: copies.path, to: daemon.statePath)
        try daemon.restart()
        switch names {
        case ["vault.sqlite"]:
            try expect("--verify", status: 65, "the catalog is older than the keybag")
            try doctor(status: 65, "fault: the catalog is older than the keybag")
        case ["anchor"]:
            try expect(
                "--verify",
                status: 65,
                "the file 'anchor', which records the end of the audit, was replaced"
            )
        default: try expect("--verify", status: 0, " records, each as it was written")
        }
    }

    @Test func `a record that was removed from the database is detected, with exit code 65`() throws {
        for number in 0..<3 { _ = try daemon.coffer(["put", "a\(number)"], input: [1]) }
        daemon.stop()
        do {
            let connection = try Connection(path: "\(daemon.statePath)/vault.sqlite")
            try connection.execute("DELETE FROM audit_blocks WHERE first = (SELECT max(first) - 1 FROM audit_blocks)")
            try connection.execute("UPDATE audit_blocks SET sealed = x'00' WHERE first = 1")
        }
        try daemon.restart()
        try expect("--verify", status: 65, "is missing", "at record 1", "the audit was changed outside of the daemon")
        let json = try daemon.coffer(["audit", "--verify", "--json"])
        #expect(json.status == 65)
        #expect(json.text.contains("\"findings\":[\"the block at record 1"))
        try expect(status: 0, "warning: some records can't be read")
    }

    @Test func `what is answered behind its commit is recorded, whatever ends the daemon then`() throws {
        for round in 0..<3 {
            let client = try daemon.connect()
            let file = try client.openFile(ItemName("opened/\(round)"), for: .write, .create)
            withExtendedLifetime(file) { daemon.kill() }
            try daemon.restart()
            let records = try lines("--item", "opened/\(round)")
            #expect(records.count == 1 && records[0].contains("file.open"), "\(records)")
        }
    }

    @Test func `what was changed before a crash is recorded after it`() throws {
        for round in 0..<5 {
            let client = try daemon.connect()
            for number in 0...round { try client.put("a/\(round)/\(number)", [1]) }
            daemon.kill()
            try daemon.restart()
            let after = try daemon.coffer(["audit", "--json"])
            for number in 0...round { #expect(after.text.contains("\"name\":\"a/\(round)/\(number)\"")) }
            #expect(try daemon.coffer(["audit", "--verify"]).status == 0)
        }
    }

    @Test func `who follows sees what comes, and what was there once`() throws {
        let process = Process()
        process.executableURL = URL(filePath: "\(Project.binaries)/coffer")
        process.arguments = ["audit", "--follow", "--socket", daemon.socketPath]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        defer { process.terminate() }
        var text = ""
        func wait(for words: String) {
            while !text.contains(words) {
                let data = pipe.fileHandleForReading.availableData
                if data.isEmpty { return }
                text += String(decoding: data, as: UTF8.self)
            }
        }
        wait(for: "vault.init")
        _ = try daemon.coffer(["put", "later"], input: [1])
        wait(for: "item.put 'later'")
        #expect(text.contains("item.put 'later'"))
        #expect(text.split(separator: "\n").count { $0.contains("vault.init") } == 1)
        #expect(!text.contains("audit.list"), "\(text)")
    }

    // MARK: Its own readings

    @Test func `reading the audit does not show itself, and is recorded once a minute`() throws {
        _ = try daemon.coffer(["put", "au/1"], input: [1])
        _ = try daemon.coffer(["get", "au/1", "--output", "token"])
        for _ in 0..<4 {
            let last = try lines("--lines", "2")
            #expect(last.count == 2 && last[0].contains("item.put") && last[1].contains("item.get"), "\(last)")
            try expect("--verify", status: 0, " records, each as it was written")
        }
        // Another program sees that it was read.
        func readings() throws -> [String] {
            try daemon.connect().auditRecords().records.map(\.action).filter { $0.hasPrefix("audit.") }
        }
        #expect(try settles { try !readings().isEmpty })
        #expect(try readings() == ["audit.list"])
    }

    @Test func `a record names the group of its item, and a group can be picked`() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.appending("e"), withIntermediateDirectories: true)
        let rights = "[Client]\nUID=\(geteuid())\nGroups=default shared\nVerbs=read write lock admin audit\n"
        try directory.write(Array(rights.utf8), to: "e/own.conf")
        let daemon = try DaemonProcess(in: directory, ["--entitlements", directory.appending("e")])
        func run(_ arguments: String..., input: [UInt8] = []) throws -> String {
            let result = try daemon.coffer(arguments, input: input)
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            return result.text
        }
        _ = try run("init", "--no-passcode", "--no-recovery-key")
        for group in ["default", "shared"] { _ = try run("put", "a", "--group", group, input: [1]) }
        _ = try run("keychain", "add", "--service", "bank", "--account", "pin", input: [1])
        let all = try run("audit").split(separator: "\n")
        for place in ["item.put 'a' in 'default'", "item.put 'a' in 'shared'", "keychain.add 'bank/pin' in 'default'"] {
            #expect(all.contains { $0.hasSuffix(" " + place) }, "\(all)")
        }
        let shared = try run("audit", "--group", "shared").split(separator: "\n")
        #expect(shared.count == 1 && shared[0].hasSuffix(" item.put 'a' in 'shared'"), "\(shared)")
        let json = try run("audit", "--group", "shared", "--item", "a", "--json")
        #expect(json.contains(#""items":[{"name":"a","group":"shared"}]"#), "\(json)")
        #expect(try run("audit", "--group", "shared", "--item", "bank/pin") == "")
    }
}
