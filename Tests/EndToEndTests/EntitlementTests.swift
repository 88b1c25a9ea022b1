import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Entitlements with the real programs: read at the start, reloaded on SIGHUP, and never in part.
@Suite struct EntitlementTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.appending("e"), withIntermediateDirectories: true)
    }

    private func daemon() throws -> DaemonProcess {
        try DaemonProcess(in: directory, ["--entitlements", directory.appending("e")])
    }

    private func write(_ text: String, to name: String) throws {
        try directory.write(Array(text.utf8), to: "e/\(name)")
    }

    private func owner(_ lines: String) -> String { "[Client]\nUID=\(geteuid())\n\(lines)\n" }

    /// The daemon takes a signal when it comes to it.
    private func eventually(_ holds: () throws -> Bool) throws {
        #expect(try settles(holds))
    }

    private func reload(_ daemon: DaemonProcess) { kill(daemon.processID, SIGHUP) }

    @Test func `a reload revokes and grants, and a connection whose rights have changed must reconnect`() throws {
        let daemon = try daemon()
        try daemon.connect().makeVault()
        #expect(try daemon.coffer(["put", "a"], input: [1]).status == 0)
        let open = try daemon.connect()
        #expect(try open.get("a") == [1])
        try write(owner("Groups=default\nVerbs=read"), to: "10-owner.conf")
        reload(daemon)
        try eventually { try daemon.coffer(["put", "b"], input: [1]).status == 77 }
        #expect(throws: CofferError.self) { _ = try open.get("a") }
        #expect(try daemon.coffer(["get", "a"]).output == [1])
        let refused = try daemon.coffer(["lock"])
        #expect(refused.status == 77)
        #expect(refused.errors.contains("you lack the right 'lock', which 'vault.lock' needs"), "\(refused.errors)")
        #expect(refused.errors.contains("10-owner.conf', line 1, says"), "\(refused.errors)")

        // The first one counts.
        try write(owner("Groups=other default\nVerbs=read write"), to: "05-first.conf")
        reload(daemon)
        try eventually { try daemon.coffer(["put", "b"], input: [2]).status == 0 }
        let elsewhere = try daemon.coffer(["get", "a"])
        #expect(elsewhere.status == 66)
        #expect(elsewhere.errors.contains("you see 'other', 'default' only"), "\(elsewhere.errors)")
        #expect(try daemon.coffer(["remove", "b"]).status == 77)

        for name in ["05-first.conf", "10-owner.conf"] {
            try FileManager.default.removeItem(atPath: directory.appending("e/\(name)"))
        }
        reload(daemon)
        try eventually { try daemon.coffer(["get", "a"]).output == [1] }
        #expect(try daemon.coffer(["get", "b"]).status == 66)
    }

    @Test func `a connection whose rights are as before is left alone`() throws {
        let daemon = try daemon()
        let open = try daemon.connect()
        try open.makeVault()
        try write("[Client]\nUID=4242\nVerbs=lock\n", to: "a.conf")
        let other = try daemon.connect()
        _ = try other.status()
        reload(daemon)
        try write("wrong", to: "b.conf")
        reload(daemon)
        try eventually { try open.status().configurationTrouble != nil }
        #expect(try other.status().state == .unlocked)
    }

    @Test func `of a wrong file nothing is taken, nor of the others beside it, and status warns`() throws {
        try write(owner("Groups=default\nVerbs=read admin"), to: "a.conf")
        let daemon = try daemon()
        try daemon.connect().makeVault()
        try write(owner("Groups=default\nVerbs=read write admin"), to: "a.conf")
        try write("[Client]\nUID=1\nVerbs=everything\n", to: "b.conf")
        reload(daemon)
        try eventually { try daemon.coffer(["status"]).errors.contains("b.conf', line 3: Verbs: there is no verb") }
        #expect(try daemon.coffer(["put", "a"], input: [1]).status == 77)
        #expect(try daemon.coffer(["list"]).status == 0)
        try write("[Client]\nUID=1\nVerbs=\n", to: "b.conf")
        reload(daemon)
        try eventually { try daemon.coffer(["status"]).errors.isEmpty }
        #expect(try daemon.coffer(["put", "a"], input: [1]).status == 0)
        // One that others could have written is a wrong one.
        chmod(directory.appending("e/b.conf"), 0o666)
        reload(daemon)
        try eventually { try daemon.coffer(["status"]).errors.contains("can be written by others") }
        #expect(try daemon.coffer(["put", "b"], input: [1]).status == 0)
    }

    @Test func `who may do nothing is refused when it connects`() throws {
        let daemon = try daemon()
        try daemon.connect().makeVault()
        try write(owner("Verbs="), to: "a.conf")
        reload(daemon)
        try eventually { try daemon.coffer(["status"]).status == 77 }
        try write(owner("Verbs=lock"), to: "a.conf")
        reload(daemon)
        try eventually { try daemon.coffer(["lock", "--now"]).status == 0 }
        #expect(try daemon.coffer(["list"]).status == 77)
        #expect(try daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 77)
    }

    @Test func `a program counts as the file that it is`() throws {
        let coffer = "\(Project.binaries)/coffer"
        let binary = URL(filePath: coffer).resolvingSymlinksInPath().path
        try write(
            "[Client]\nUID=\(geteuid())\nExecutable=\(binary)\nGroups=program\nVerbs=read write\n",
            to: "a.conf"
        )
        let daemon = try daemon()
        try daemon.connect().makeVault()
        #expect(try daemon.coffer(["put", "a"], input: [1]).status == 0)
        #expect(try daemon.coffer(["lock"]).status == 77)
        // The same bytes elsewhere are another program; by a link it is the one that the link leads to.
        let copy = directory.appending("copy")
        try FileManager.default.copyItem(atPath: binary, toPath: copy)
        let link = directory.appending("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: binary)
        let environment = ["COFFER_SOCKET": daemon.socketPath]
        #expect(try runCommand(copy, ["get", "a"], environment: environment).status == 66)
        #expect(try runCommand(link, ["get", "a"], environment: environment).status == 0)
    }

    @Test func `an item is protected as the entitlement says, unless something more specific applies`() throws {
        try write(
            owner("Groups=default\nVerbs=read write admin\nDefaultProtection=AfterFirstUnlock"),
            to: "a.conf"
        )
        let daemon = try daemon()
        try daemon.connect().makeVault()
        #expect(try daemon.put(["a"], input: [1]).text.contains("as AfterFirstUnlock"))
        let said = try daemon.put(["b", "--accessible", "Always"], input: [1])
        #expect(said.text.contains("as Always "))
        let explained = try daemon.coffer(["explain", "--size", "1"])
        #expect(explained.text.contains("readable after first unlock"), "\(explained.text)")
        #expect(explained.text.contains("put works"))
    }

    @Test func `a daemon does not start with a wrong one, and check says what is wrong`() throws {
        try write("[Client]\nUID=1\nVerbs=lock\n[Client]\nVerbs=lock\n", to: "a.conf")
        let path = directory.appending("e/a.conf")
        let refused = try runCommand(
            "\(Project.binaries)/cofferd",
            ["--entitlements", directory.appending("e"), "--state", directory.appending("state"), "--check"]
        )
        #expect(refused.status == 64)
        let fault = "'\(path)', line 4: a [Client] needs a setting that identifies it"
        #expect(refused.errors.contains(fault), "\(refused.errors)")
        let checked = try runCommand("\(Project.binaries)/coffer", ["entitlement", "check", path])
        #expect(checked.status == 64)
        #expect(checked.errors.hasPrefix("error: '\(path)', line 4: "), "\(checked.errors)")
        try write("[Client]\nUser=root\nVerbs=lock\n", to: "a.conf")
        let right = try runCommand("\(Project.binaries)/coffer", ["entitlement", "check", path])
        #expect(right.status == 0 && right.text.isEmpty && right.errors.isEmpty, "\(right.errors)")
        let missing = try runCommand("\(Project.binaries)/coffer", ["entitlement", "check", path + "x"])
        #expect(missing.status == 74)

        try FileManager.default.createDirectory(
            atPath: directory.appending("coffer"),
            withIntermediateDirectories: true
        )
        try FileManager.default.moveItem(
            atPath: directory.appending("e"),
            toPath: directory.appending("coffer/entitlements.d")
        )
        let environment = ["XDG_CONFIG_HOME": directory.path]
        let own = try runCommand("\(Project.binaries)/coffer", ["entitlement", "check"], environment: environment)
        #expect(own.status == 0, "\(own.errors)")
        try directory.write(Array("[Client]\n".utf8), to: "coffer/entitlements.d/b.conf")
        let wrong = try runCommand("\(Project.binaries)/coffer", ["entitlement", "check"], environment: environment)
        #expect(wrong.status == 64)
        let daemon = try runCommand("\(Project.binaries)/cofferd", ["--check"], environment: environment)
        #expect(daemon.status == 64)
    }

    @Test func `a daemon starts although a group of an entitlement does not exist, and warns of it`() throws {
        try write("[Client]\nGroup=no-such-group\nGroups=a\nVerbs=read\n", to: "a.conf")
        try write(owner("Groups=default\nVerbs=read write admin"), to: "b.conf")
        let daemon = try daemon()
        try daemon.connect().makeVault()
        #expect(try daemon.coffer(["put", "a"], input: [1]).status == 0)
        #expect(try daemon.coffer(["lock"]).status == 77)
        let listed = try daemon.coffer(["entitlement", "list"])
        #expect(!listed.text.contains("a.conf") && listed.text.contains("b.conf"), "\(listed.text)")
        let warning = "a.conf', line 1: there is no group 'no-such-group', so this [Client] matches no client\n"
        let started = try runCommand(
            "\(Project.binaries)/cofferd",
            ["--entitlements", directory.appending("e"), "--state", directory.appending("state"), "--check"]
        )
        #expect(started.status == 0 && started.errors.contains(warning), "\(started.errors)")
        let path = directory.appending("e/a.conf")
        let checked = try runCommand("\(Project.binaries)/coffer", ["entitlement", "check", path])
        #expect(checked.status == 0 && checked.errors == "warning: '\(path)\(warning.dropFirst("a.conf".count))")
    }
}
