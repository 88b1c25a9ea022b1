import CofferTestSupport
import Foundation
import Testing

/// Rules that end, through the real programs: granted, used up, removed, and never given back by a crash.
@Suite struct GrantTests {
    private let daemon: DaemonProcess

    init() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.appending("e"), withIntermediateDirectories: true)
        daemon = try DaemonProcess(in: directory, ["--entitlements", directory.appending("e")])
        try daemon.connect().makeVault(passcode: nil)
        #expect(try daemon.coffer(["put", "deploy/token"], input: [1, 2]).status == 0)
    }

    /// Makes this user one who has a group of its own, and nothing in it.
    private func becomeAnother() throws {
        let entitlement = "[Client]\nUID=\(geteuid())\nGroups=other\nVerbs=read\n"
        try daemon.directory.write(Array(entitlement.utf8), to: "e/other.conf")
        try daemon.restart()
    }

    @Test func `grant writes what access lists and removes`() throws {
        let granted = try daemon.coffer(["grant", "deploy/token", "--to", "user", NSUserName(), "--for", "10m"])
        #expect(granted.text == "added rule 1\n", "\(granted.errors)")
        let words = ["--uses", "3", "--reason", "nightly deployment", "--json"]
        let second = try daemon.coffer(["grant", "deploy/token", "--to", "unit:ci.service", "--for", "1d"] + words)
        #expect(second.text == "{\"rule\":2}\n")
        let listed = try daemon.coffer(["access"]).text.split(separator: "\n").map { $0.split(separator: "  ") }
        let user = "user \(NSUserName())"
        let item: [Substring] = ["read", "default", "deploy/token"]
        #expect(listed.first == ["1", "allow", user[...]] + item + ["in 10 min, with the item"])
        let end: Substring = "in 1 d, after 3 uses, with the item"
        #expect(listed.last == ["2", "allow", "unit ci.service"] + item + [end, "nightly deployment"])
        let removed = try daemon.coffer(["access", "remove", "7", "1"])
        #expect(removed.status == 66)
        #expect(removed.errors.contains("there is no access rule 7"))
        let json = try daemon.coffer(["access", "--json"]).text
        let head =
            #"{"rule":2,"kind":"allow","client":"unit:ci.service","verbs":["read"],"group":"default","name":"deploy/token""#
        #expect(json.hasPrefix(head), "\(json)")
        #expect(json.contains(#","uses":3,"reason":"nightly deployment","added":"#))
        #expect(!json.contains(#""rule":1"#))
    }

    @Test func `a client is spelled alike in every verb, in one word or in two`() throws {
        let spellings = [["unit", "ci"], ["unit:ci"], ["unit:ci.service"], ["unit", "ci.service"]]
        for client in spellings {
            let granted = try daemon.coffer(["grant", "deploy/token", "--to"] + client + ["--for", "1h"])
            #expect(granted.status == 0, "\(client): \(granted.errors)")
            let allowed = try daemon.coffer(["allow"] + client + ["read", "--item", "deploy/token"])
            #expect(allowed.status == 0, "\(client): \(allowed.errors)")
            let explained = try daemon.coffer(["explain", "deploy/token", "--as"] + client)
            let permits = explained.text.contains(
                "as unit ci.service, now, the vault is open, without a passcode: get works"
            )
            #expect(permits, "\(client): \(explained.text) \(explained.errors)")
        }
        let listed = try daemon.coffer(["access"]).text.split(separator: "\n")
        // The rule that counts until it is removed is the same each time.
        #expect(listed.count == 5)
        #expect(listed.allSatisfy { $0.contains("  unit ci.service  ") }, "\(listed)")
    }

    @Test func `a rule for a pattern ends with its time and its uses, too`() throws {
        let rule = ["allow", "gid:\(getegid())", "read", "--item", "deploy/*", "--for", "1h", "--uses", "1"]
        let allowed = try daemon.coffer(rule + ["--reason", "once"])
        #expect(allowed.text == "added rule 1\n", "\(allowed.errors)")
        let wrong = try daemon.coffer(["allow", "unit", "ci", "read", "write", "--item", "deploy/*", "--uses", "1"])
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("only reading is counted"), "\(wrong.errors)")
        try becomeAnother()
        #expect(try daemon.coffer(["get", "deploy/token"]).output == [1, 2])
        #expect(try daemon.coffer(["get", "deploy/token"]).status == 66)
    }

    @Test(arguments: [
        (["--to", "program:ci", "--for", "10m"], "'ci' is not the path of a program"),
        (["--to", "ci.service", "--for", "10m"], "unknown client 'ci.service'"),
        (["--to", "unit", "ci/2", "--for", "10m"], "'ci/2.service'"),
        (["--to", "gid:1"], "--for"),
        (["--to", "gid:1", "--for", "10"], "--for '10'"),
        (["--to", "user:no such", "--for", "1h"], "there is no user 'no such'"),
        (["--to", "group:no such", "--for", "1h"], "there is no group 'no such'"),
        (["--to", "gid:1", "--for", "31d"], "30 d at most"),
        (["--to", "gid:1", "--for", "1h", "--uses", "0"], "'uses'"),
    ])
    func `invalid arguments are reported`(arguments: [String], words: String) throws {
        let refused = try daemon.coffer(["grant", "deploy/token"] + arguments)
        #expect(refused.status == 64)
        #expect(refused.errors.contains(words), "\(refused.errors)")
    }

    @Test func `another user, who can't connect, is granted nothing, and the way is said`() throws {
        let other = geteuid() + 4242
        let rule = ["allow", "user", "\(other)", "read", "--item", "deploy/token"]
        let grant = ["grant", "deploy/token", "--to", "uid:\(other)", "--for", "1h"]
        for words in [rule, grant] {
            let refused = try daemon.coffer(words)
            #expect(refused.status == 64)
            #expect(refused.errors.contains("user \(other) can't connect to this vault"), "\(refused.errors)")
            #expect(refused.errors.contains("the machine's vault"), "\(refused.errors)")
        }
        #expect(try daemon.coffer(["access"]).text == "")
        // Only one of the two is open.
        chmod(daemon.socketPath, 0o666)
        #expect(try daemon.coffer(grant).status == 64)
        daemon.openToOthers()
        for words in [rule, grant] { #expect(try daemon.coffer(words).status == 0) }
    }

    @Test func `a use that was answered stays used, although the daemon is killed right after it`() throws {
        let client = "uid:\(geteuid())"
        let granted = try daemon.coffer(["grant", "deploy/token", "--to", client, "--for", "1h", "--uses", "2"])
        #expect(granted.status == 0, "\(granted.errors)")
        try becomeAnother()
        for _ in 0..<2 {
            let read = try daemon.coffer(["get", "deploy/token"])
            #expect(read.output == [1, 2], "\(read.errors)")
            try daemon.restart()
        }
        let refused = try daemon.coffer(["get", "deploy/token"])
        #expect(refused.status == 66)
        #expect(refused.errors.contains("you see 'other' only"), "\(refused.errors)")
    }

    @Test func `what it allows, and no more, is what another client gets`() throws {
        let granted = try daemon.coffer(["grant", "deploy/token", "--to", "gid:\(getegid())", "--for", "1h"])
        #expect(granted.status == 0, "\(granted.errors)")
        try becomeAnother()
        #expect(try daemon.coffer(["get", "deploy/token"]).output == [1, 2])
        let shown = try daemon.coffer(["show", "deploy/token", "--json"])
        #expect(shown.text.contains(#""name":"deploy/token""#))
        #expect(try daemon.coffer(["list"]).text == "")
        #expect(try daemon.coffer(["remove", "deploy/token"]).status == 77)
        #expect(try daemon.coffer(["access"]).status == 77)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func `another user of the machine gets the one item, and is turned away when that has ended`() throws {
        let user: uid_t = 65_534
        daemon.openToOthers()
        let script = """
            import os, socket, struct, sys
            os.setgroups([]); os.setgid(\(user)); os.setuid(\(user))
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(sys.argv[1])
            request = b'{"jsonrpc":"2.0","id":1,"method":"item.get","params":{"name":"deploy/token"}}'
            try:
                connection.sendall(struct.pack(">II", len(request), 0) + request)
            except BrokenPipeError:
                pass
            header = struct.unpack(">II", connection.recv(8, socket.MSG_WAITALL))
            print(connection.recv(header[0], socket.MSG_WAITALL).decode())
            """
        func ask() throws -> String { try runCommand("/usr/bin/python3", ["-c", script, daemon.socketPath]).text }
        #expect(try ask().contains("user \(user) may not use this vault"))
        let grant = ["grant", "deploy/token", "--to", "uid:\(user)", "--for", "1h", "--uses", "1"]
        #expect(try daemon.coffer(grant).status == 0)
        #expect(try ask().contains(#""size":2"#))
        #expect(try ask().contains("user \(user) may not use this vault"))
    }
}
