import CofferTestSupport
import Foundation
import Testing

/// Access rules through the real programs.
@Suite struct AccessRuleTests {
    private let daemon: DaemonProcess

    init() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.appending("e"), withIntermediateDirectories: true)
        daemon = try DaemonProcess(in: directory, ["--entitlements", directory.appending("e")])
        try daemon.connect().makeVault(passcode: nil)
        for name in ["deploy/token", "deploy/other"] {
            #expect(try daemon.coffer(["put", name], input: [1, 2]).status == 0)
        }
    }

    /// Makes this user one who has a group of its own, and nothing in it.
    private func becomeAnother() throws {
        let entitlement = "[Client]\nUID=\(geteuid())\nGroups=other\nVerbs=read\n"
        try daemon.directory.write(Array(entitlement.utf8), to: "e/other.conf")
        try daemon.restart()
    }

    private func run(_ words: String...) throws -> CommandResult { try daemon.coffer(words) }

    @Test func `allow, deny and access say what they do`() throws {
        let allowed = try run("allow", "unit", "ci@*.service", "read", "write", "--item", "deploy/*")
        #expect(allowed.text == "added rule 1\n" && allowed.errors == "", "\(allowed.errors)")
        let denied = try run("deny", "unit", "ci@root", "read", "--item", "deploy/other", "--json")
        #expect(denied.text == "{\"rule\":2}\n", "\(denied.errors)")
        #expect(try run("allow", "user", "root", "delete", "--item", "a b", "--group", "work").status == 0)
        #expect(
            try run("allow", "unit", "ci@*.service", "write", "read", "--item", "deploy/*").text == "added rule 1\n"
        )
        let listed = try run("access")
        #expect(
            listed.text == """
                1  allow  unit ci@*.service     read, write  default  deploy/*
                2  deny   unit ci@root.service  read         default  deploy/other
                3  allow  user root             delete       work     a b

                """
        )
        let json = try run("access", "list", "--json").text.split(separator: "\n")
        let last =
            #"{"rule":3,"kind":"allow","client":"uid:0","verbs":["delete"],"group":"work","pattern":"a b","added":"#
        #expect(json.count == 3 && json.last?.hasPrefix(last) == true)
        let removed = try run("access", "remove", "7", "1")
        #expect(removed.status == 66 && removed.errors.contains("there is no access rule 7"), "\(removed.errors)")
        #expect(try run("access").text.hasPrefix("2  deny"))
    }

    @Test func `a client that a rule is for gets its items, without the exception, also after the daemon was killed`()
        throws
    {
        let user = "\(geteuid())"
        for words in [
            ["allow", "user", user, "read", "write", "--item", "deploy/*"],
            ["deny", "user", user, "read", "--item", "deploy/other"],
        ] { #expect(try daemon.coffer(words).status == 0) }
        try becomeAnother()
        for _ in 0..<2 {
            #expect(try run("get", "deploy/token").output == [1, 2])
            #expect(try run("get", "deploy/other").status == 66)
            #expect(try run("get", "deploy/other", "--group", "default").status == 77)
            #expect(try run("list").text == "")
            #expect(try run("access").status == 77)
            try daemon.restart()
        }
        #expect(try daemon.coffer(["put", "deploy/new"], input: [3]).status == 77)
        #expect(try daemon.coffer(["put", "deploy/new", "--group", "default"], input: [3]).status == 0)
        #expect(try run("get", "deploy/new").output == [3])
        #expect(try run("remove", "deploy/new", "--group", "default").status == 77)
    }

    @Test func `what a rule does not change is said`() throws {
        let user = "\(geteuid())"
        let denied = try run("deny", "user", user, "read", "--item", "deploy/*")
        #expect(denied.status == 0 && denied.errors.contains("may read there by its own rights"), "\(denied.errors)")
        let allowed = try run("allow", "user", user, "read", "--item", "deploy/*")
        #expect(allowed.status == 0 && allowed.errors.contains("may read there without a rule"), "\(allowed.errors)")
        #expect(try run("get", "deploy/token").status == 0)
    }

    @Test func `show names the clients to which a rule allows the item`() throws {
        #expect(try run("allow", "unit", "ci", "read", "--item", "deploy/*").status == 0)
        #expect(try run("deny", "unit", "ci", "read", "--item", "deploy/other").status == 0)
        #expect(try run("show", "deploy/token").text.contains("unit:ci.service by rule 1"))
        #expect(!(try run("show", "deploy/other").text.contains("by rule")))
    }

    @Test func `a program is named by its path, with symbolic links resolved`() throws {
        let link = daemon.directory.appending("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/usr/bin/env")
        #expect(try run("allow", "program", link, "read", "--item", "a").status == 0)
        let path = URL(filePath: "/usr/bin/env").resolvingSymlinksInPath().path
        #expect(try run("access").text.contains("program \(path)"))
    }

    @Test(arguments: [
        (["user", "nobody-at-all", "read"], "there is no user 'nobody-at-all'"),
        (["group", "nobody-at-all", "read"], "there is no group 'nobody-at-all'"),
        (["unit", "ci.timer", "read"], "'ci.timer' is no unit"),
        (["program", "ci", "read"], "not the path of a program"),
        (["unit", "ci", "admin"], "admin"), (["unit", "ci"], "what the rule is about"),
        (["machine", "ci", "read"], "machine"),
    ])
    func `invalid arguments are reported`(arguments: [String], words: String) throws {
        let refused = try daemon.coffer(["allow"] + arguments + ["--item", "a"])
        #expect(refused.status == 64)
        #expect(refused.errors.contains(words), "\(refused.errors)")
    }

    @Test func `a pattern for others wants the passcode, and says for how many items it is now`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        for name in ["deploy/token", "deploy/other"] { try daemon.connect().put(name, [1]) }
        let words = ["allow", "unit", "ci", "read", "--item", "deploy/*"]
        let refused = try daemon.coffer(words)
        #expect(refused.status == 77 && refused.errors.contains("it wants the passcode"), "\(refused.errors)")
        let allowed = try runCommand(
            "/bin/bash",
            ["-c", "coffer allow unit ci read --item 'deploy/*' --passcode-fd 3 3<<<'\(DaemonProcess.passcode)'"],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"]
        )
        #expect(allowed.status == 0 && allowed.text == "added rule 1\n", "\(allowed.errors)")
        #expect(allowed.errors.contains("unit ci.service may read 2 items by this rule"), "\(allowed.errors)")
        #expect(try daemon.coffer(["allow", "unit", "ci", "read", "--item", "deploy/token"]).status == 0)
    }
}
