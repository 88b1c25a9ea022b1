import CofferTestSupport
import Foundation
import Testing

/// Access groups through the real programs: what is put in one is read, listed, changed and removed there.
@Suite struct GroupTests {
    private let daemon: DaemonProcess
    /// Another program, which holds the groups 'app' and 'shared'.
    private let app: String
    private let content = [UInt8](repeating: 7, count: 3000)

    init() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.appending("e"), withIntermediateDirectories: true)
        app = directory.appending("app")
        let binary = URL(filePath: "\(Project.binaries)/coffer").resolvingSymlinksInPath().path
        try FileManager.default.copyItem(atPath: binary, toPath: app)
        let client = "[Client]\nUID=\(geteuid())\nExecutable=\(app)\nGroups=app shared\nVerbs=read write delete\n"
        try directory.write(Array(client.utf8), to: "e/app.conf")
        daemon = try DaemonProcess(in: directory, ["--entitlements", directory.appending("e")])
        try daemon.connect().makeVault(passcode: nil)
    }

    private func asApp(_ arguments: [String], input: [UInt8] = []) throws -> CommandResult {
        try runCommand(app, arguments, environment: ["COFFER_SOCKET": daemon.socketPath], input: input)
    }

    @Test func `what a client puts into its second group, each holder reads, lists, changes and removes there`() throws
    {
        let here = ["--group", "shared"]
        #expect(try asApp(["put", "file"] + here, input: content).status == 0)
        #expect(try asApp(["put", "token"] + here, input: [1, 2]).status == 0)
        let missed = try asApp(["get", "token"])
        #expect(missed.status == 66)
        #expect(missed.errors.contains("you see 'app', 'shared' only, and the first of them"), "\(missed.errors)")
        #expect(try asApp(["list"]).text == "")
        #expect(try asApp(["list"] + here).text == "file\ntoken\n")
        for read in [asApp, { try daemon.coffer($0, input: $1) }] {
            #expect(try read(["get", "file"] + here, []).output == content)
            #expect(try read(["get", "token"] + here, []).output == [1, 2])
            #expect(try read(["show", "token"] + here, []).text.contains("group:          shared\n"))
            #expect(try read(["explain", "file"] + here, []).text.contains("is in the file store"))
        }
        let gone = try daemon.coffer(["get", "nothing"] + here)
        #expect(gone.errors.contains("it was looked for in the group 'shared'"), "\(gone.errors)")

        // The same name in another group is another item.
        #expect(try asApp(["put", "token"], input: [3]).status == 0)
        for (name, target) in [("file", "f"), ("token", "t")] {
            #expect(try daemon.coffer(["move", name, target] + here).status == 0)
            #expect(try daemon.coffer(["protect", target, "Always"] + here).status == 0)
            #expect(try asApp(["show", target, "--json"] + here).text.contains(#""group":"shared""#))
            #expect(try asApp(["get", name] + here).status == 66)
            #expect(try daemon.coffer(["remove", target] + here).status == 0)
            #expect(try asApp(["get", target] + here).status == 66)
        }
        #expect(try asApp(["get", "token"]).output == [3])
    }

    @Test func `a group that is not held is refused, by every verb that names an item`() throws {
        #expect(try daemon.coffer(["put", "a"], input: content).status == 0)
        #expect(try daemon.coffer(["put", "b"], input: [1]).status == 0)
        let verbs: [[String]] = [
            ["get", "b"], ["put", "c"], ["list"], ["show", "b"], ["remove", "b"], ["move", "b", "c"],
            ["protect", "b", "Always"], ["explain", "b"], ["file", "create", "c"], ["file", "read", "a"],
            ["file", "write", "a"], ["file", "append", "a"], ["file", "truncate", "a", "1"], ["file", "stat", "a"],
            ["file", "list"], ["file", "mkdir", "d"], ["file", "remove", "a"], ["file", "move", "a", "c"],
            ["file", "protect", "a", "none"], ["keychain", "find"], ["keychain", "add", "--account", "c"],
            ["keychain", "delete", "--account", "b"],
            ["doctor", "--salvage", "a", "--output", daemon.directory.appending("out")],
        ]
        for verb in verbs {
            let refused = try asApp(verb + ["--group", "default"], input: [1])
            #expect(refused.status == 77, "\(verb): \(refused.errors)")
            #expect(refused.errors.contains("don't hold the access group 'default'"), "\(verb): \(refused.errors)")
        }
        #expect(try daemon.coffer(["list"]).text == "a\nb\n")
        #expect(try daemon.coffer(["get", "a"]).output == content)
    }

    @Test func `files live in a group, with every verb of files`() throws {
        let here = ["--group", "shared"]
        func file(_ verb: String, _ arguments: String..., input: [UInt8] = []) throws -> CommandResult {
            let done = try asApp(["file", verb] + arguments + here, input: input)
            #expect(done.status == 0, "\(verb): \(done.errors)")
            return done
        }
        _ = try file("mkdir", "d", "--class", "complete")
        _ = try file("create", "d/a", input: [1, 2, 3])
        _ = try file("write", "d/a", "--offset", "1", input: [9])
        _ = try file("append", "d/a", input: [4])
        #expect(try file("read", "d/a").output == [1, 9, 3, 4])
        _ = try file("truncate", "d/a", "2")
        #expect(try file("stat", "d/a").text.contains("size:        2 bytes"))
        #expect(try file("list", "--recursive").text == "d/\nd/a\n")
        _ = try file("protect", "d", "none", "--recursive")
        _ = try file("move", "d", "e")
        #expect(try file("list", "e", "--json").text.contains(#""class":"none""#))
        let out = daemon.directory.appending("out")
        #expect(try asApp(["doctor", "--salvage", "e/a", "--output", out] + here).status == 0)
        #expect(try Array(Data(contentsOf: URL(filePath: out))) == [1, 9])
        #expect(try asApp(["file", "list"]).text == "")
        #expect(try asApp(["file", "read", "e/a"]).status == 66)
        #expect(try daemon.coffer(["file", "read", "e/a"] + here).output == [1, 9])
        _ = try file("remove", "e", "--recursive")
        #expect(try file("list").text == "")
    }

    @Test func `the owner reaches every group by its name, and sees all of them with --all-groups`() throws {
        #expect(try daemon.coffer(["put", "mine"], input: [1]).status == 0)
        #expect(try asApp(["put", "a b"], input: content).status == 0)
        let unit = "user-unit:a.service"
        #expect(try daemon.coffer(["put", "mine", "--group", unit], input: [2]).status == 0)
        #expect(try daemon.coffer(["get", "mine", "--group", unit]).output == [2])
        #expect(try daemon.coffer(["get", "mine"]).output == [1])
        let all = try daemon.coffer(["list", "--all-groups"])
        #expect(all.text == "app  a b\ndefault  mine\n\(unit)  mine\n")
        let json = try daemon.coffer(["list", "--all-groups", "--json"]).text
        #expect(json.contains(#""name":"a b","group":"app""#), "\(json)")
        // A client that holds two groups sees those.
        #expect(try asApp(["list", "--all-groups"]).text == "app  a b\n")
        #expect(try daemon.coffer(["list", "--all-groups", "--group", "app"]).status == 64)
        for name in ["", "a/b", "a b", String(repeating: "a", count: 1025)] {
            let refused = try daemon.coffer(["get", "mine", "--group", name])
            #expect(refused.status == 64, "\(name): \(refused.errors)")
            #expect(refused.errors.contains("is not an access group"), "\(refused.errors)")
        }
        let explained = try daemon.coffer(["entitlement", "explain"]).text
        #expect(explained.contains("groups:      default, any other by its name\n"), "\(explained)")
        #expect(explained.contains("program:     program:/"), "\(explained)")
        #expect(try asApp(["entitlement", "explain"]).text.contains("groups:      app, shared\n"))
    }

    @Test func `the owner administers a unit's group: lists, stores, moves and removes there`() throws {
        let unit = ["--group", "unit:backup.service"]
        #expect(try daemon.coffer(["put", "db/password"] + unit, input: content).status == 0)
        #expect(try daemon.coffer(["move", "db/password", "db/old"] + unit).status == 0)
        #expect(try daemon.coffer(["list"] + unit).text == "db/old\n")
        #expect(try daemon.coffer(["protect", "db/old", "AfterFirstUnlock"] + unit).status == 0)
        #expect(try daemon.coffer(["list"]).text == "")
        #expect(try daemon.coffer(["remove", "db/old"]).status == 66)
        #expect(try daemon.coffer(["remove", "db/old"] + unit).status == 0)
        #expect(try daemon.coffer(["list", "--all-groups"]).text == "")
    }

    @Test func `an entitlement names every group by a star, and gives no more verbs than it says`() throws {
        let entitlement = "[Client]\nUID=\(geteuid())\nGroups=*\nVerbs=admin\n"
        #expect(try daemon.coffer(["put", "b", "--group", "other"], input: [1]).status == 0)
        #expect(
            try daemon.coffer(["grant", "b", "--to", "unit:a.service", "--for", "1h", "--group", "other"]).status == 0
        )
        try daemon.directory.write(Array(entitlement.utf8), to: "e/0.conf")
        try daemon.restart()
        #expect(try daemon.coffer(["access"]).text.contains("unit a.service  read  other  b"))
        for words in [["get", "b"], ["put", "c"], ["keychain", "find"], ["protect", "b", "Always"]] {
            #expect(try daemon.coffer(words + ["--group", "other"], input: [1]).status == 77, "\(words)")
        }
        // Administering sees names, and moves, removes and restores.
        for words in [
            ["list"], ["show", "b"], ["move", "b", "d"], ["remove", "d"], ["trash", "list"], ["trash", "restore", "d"],
        ] {
            let done = try daemon.coffer(words + ["--group", "other"])
            #expect(done.status == 0, "\(words): \(done.errors)")
        }
        #expect(try daemon.coffer(["list", "--all-groups"]).text == "other  d\n")
        let explained = try daemon.coffer(["entitlement", "list"]).text
        #expect(explained.contains("any other by its name"), "\(explained)")
    }

    @Test func `keychain items, rules and the audit are of a group`() throws {
        let here = ["--group", "shared"]
        #expect(try asApp(["keychain", "add", "--account", "anna"] + here, input: [5]).status == 0)
        #expect(try daemon.coffer(["keychain", "find", "--account", "anna"]).status == 66)
        #expect(try daemon.coffer(["keychain", "find", "--account", "anna"] + here).output == [5])
        let to = ["--to", "uid:4242", "--for", "1h"]
        daemon.openToOthers()
        #expect(try daemon.coffer(["grant", "anna"] + to).status == 66)
        #expect(try daemon.coffer(["grant", "anna"] + to + here).status == 0)
        #expect(try daemon.coffer(["access"]).text.hasPrefix("1  allow  user 4242  read  shared  anna  in "))
        #expect(try asApp(["get", "anna"] + here).output == [5])
        #expect(try asApp(["get", "anna"]).status == 66)
        let records = try daemon.coffer(["audit", "--item", "anna", "--group", "shared", "--json"]).text
        #expect(records.contains(#""action":"item.get""#), "\(records)")
        #expect(!records.contains(#""group":"app""#), "\(records)")
        #expect(try daemon.coffer(["keychain", "delete", "--account", "anna"] + here).status == 0)
    }

    @Test func `two programs with the same code have a group each, which is that of the file that they run`() throws {
        try FileManager.default.removeItem(atPath: daemon.directory.appending("e/app.conf"))
        try daemon.restart()
        let own = ["--group", "program:"]
        #expect(try asApp(["put", "userPassword"] + own, input: [1]).status == 0)
        #expect(try daemon.coffer(["get", "userPassword"] + own).status == 66)
        #expect(try daemon.coffer(["put", "userPassword"] + own, input: [2]).status == 0)
        #expect(try asApp(["get", "userPassword"] + own).output == [1])
        #expect(try daemon.coffer(["get", "userPassword"] + own).output == [2])
        #expect(try daemon.coffer(["get", "userPassword"]).status == 66)
        // The owner names it by its path.
        #expect(try daemon.coffer(["get", "userPassword", "--group", "program:\(app)"]).output == [1])
        #expect(try asApp(["keychain", "find", "--account", "userPassword"] + own).output == [1])
    }

    @Test func `an entitlement gives a program its own group by a word, and no other program's by its name`() throws {
        let client = "[Client]\nUID=\(geteuid())\nExecutable=\(app)\nGroups=program: app\nVerbs=read write\n"
        try daemon.directory.write(Array(client.utf8), to: "e/app.conf")
        try daemon.restart()
        #expect(try asApp(["put", "a"], input: [1]).status == 0)
        #expect(try daemon.coffer(["get", "a", "--group", "program:\(app)"]).output == [1])
        #expect(try asApp(["get", "a", "--group", "program:/usr/bin/other"]).status == 77)
        let other = "[Client]\nUID=1\nGroups=program:/usr/bin/other\nVerbs=read\n"
        let path = try daemon.directory.write(Array(other.utf8), to: "other.conf")
        let refused = try daemon.coffer(["entitlement", "check", path])
        #expect(refused.status == 64)
        #expect(refused.errors.contains("which only that program holds"), "\(refused.errors)")
    }
}
