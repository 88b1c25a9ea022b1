import CofferTestSupport
import Foundation
import Testing

/// `coffer entitlement list` and `coffer entitlement explain`: what is in force, and what it comes to.
@Suite struct ExplainAccessTests {
    private static var groupName: String {
        getgrgid(getegid()).map { String(cString: $0.pointee.gr_name) } ?? "\(getegid())"
    }

    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.appending("e/a.conf")
        try FileManager.default.createDirectory(
            atPath: directory.appending("e"),
            withIntermediateDirectories: true
        )
    }

    private func daemon(_ text: String) throws -> DaemonProcess {
        try directory.write(Array(text.utf8), to: "e/a.conf")
        return try DaemonProcess(in: directory, ["--entitlements", directory.appending("e")])
    }

    private func lines(_ result: CommandResult) -> [String] {
        #expect(result.status == 0, "\(result.errors)")
        return result.text.split(separator: "\n").map(String.init)
    }

    /// Ends a program, which may block the signals that the threads of tests do.
    private func end(_ process: Process) {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    @Test func `the entitlements are listed in their order, and errors in the current files are reported`() throws {
        let none = try daemon("")
        #expect(lines(try none.coffer(["entitlement", "list"])).first?.hasPrefix("there are none: ") == true)
        none.kill()
        let daemon = try daemon(
            """
            [Client]
            Unit=backup.service
            UID=40034
            Groups=default other
            Verbs=read
            DefaultProtection=AfterFirstUnlock
            MaxConnections=8
            MaxRequestsPerSecond=100
            [Client]
            GID=40035
            Verbs=
            """
        )
        #expect(
            lines(try daemon.coffer(["entitlement", "list"])) == [
                "'\(path)', line 1", "    who:         unit:backup.service and uid:40034",
                "    groups:      default, other", "    verbs:       read",
                "    protection:  after first unlock, unless something else is asked for",
                "    connections: 8 at once, at most",
                "    requests:    100 a second, over time", "'\(path)', line 9",
                "    who:         gid:40035", "    groups:      none",
                "    verbs:       none: it is refused when it connects",
            ]
        )
        try directory.write(Array("[Client]\nVerbs=fly\n".utf8), to: "e/a.conf")
        kill(daemon.processID, SIGHUP)
        // The daemon takes a signal when it comes to it.
        let isTold = try settles {
            try daemon.coffer(["entitlement", "list", "--json"]).errors.contains(
                "line 2: Verbs: there is no verb 'fly'"
            )
        }
        #expect(isTold)
        let json = lines(try daemon.coffer(["entitlement", "list", "--json"]))
        #expect(json.count == 2)
        #expect(json.first?.hasSuffix(#","maxConnections":8,"maxRequestsPerSecond":100}"#) == true, "\(json)")
        #expect(json.last == #"{"file":"\#(path)","line":9,"clients":["gid:40035"],"groups":[],"verbs":[]}"#)
    }

    @Test func `a client's own rights are explained, with the rule that gives them`() throws {
        let daemon = try daemon("[Client]\nUID=\(geteuid())\nGroups=mine\nVerbs=read write\nMaxConnections=9\n")
        let own = lines(try daemon.coffer(["entitlement", "explain"]))
        try #require(own.count == 5, "\(own)")
        #expect(
            own[0].contains("; user \(NSUserName()) (\(geteuid())); group") && own[0].contains("/coffer'"),
            "\(own)"
        )
        let rest = [
            "decided by:  '\(path)', line 1", "groups:      mine", "verbs:       read, write",
            "connections: 9 at once, at most",
        ]
        #expect(Array(own.dropFirst()) == rest)
        // A client without the verb admin gets no explanation of others.
        for arguments in [["list"], ["explain", "1"], ["explain", "mail.service"]] {
            let refused = try daemon.coffer(["entitlement"] + arguments)
            #expect(refused.status == 77 && refused.errors.contains("you lack the right 'admin'"), "\(refused.errors)")
        }
    }

    @Test func `a process and a unit are explained, and what is neither is refused in words`() throws {
        let daemon = try daemon("[Client]\nUnit=backup.service\nUID=40034\nGroups=default\nVerbs=read\n")
        let sleeper = Process()
        sleeper.executableURL = URL(filePath: "/usr/bin/sleep")
        sleeper.arguments = ["600"]
        try sleeper.run()
        let number = "\(sleeper.processIdentifier)"
        let process = lines(try daemon.coffer(["entitlement", "explain", number]))
        #expect(
            process.first?.hasPrefix("client:      process \(number); user \(NSUserName()) (\(geteuid())); group")
                == true,
            "\(process)"
        )
        #expect(process.contains("groups:      default, any other by its name"), "\(process)")
        end(sleeper)
        let gone = try daemon.coffer(["entitlement", "explain", number])
        #expect(gone.status == 66 && gone.errors.hasPrefix("error: there is no process \(number)"), "\(gone.errors)")

        #expect(
            lines(try daemon.coffer(["entitlement", "explain", "backup.service"])) == [
                "client:      user 40034; group \(Self.groupName); in unit:backup.service",
                "decided by:  '\(path)', line 1",
                "groups:      default", "verbs:       read",
            ]
        )
        let unnamed = lines(try daemon.coffer(["entitlement", "explain", "user-unit:mail.service"]))
        #expect(unnamed.contains("decided by:  the default rule, as no entitlement matches"), "\(unnamed)")
        #expect(unnamed.contains("groups:      user-unit:mail.service"), "\(unnamed)")
        for text in ["mail", "0", "-1", "uid:5", "backup.timer"] {
            let wrong = try daemon.coffer(["entitlement", "explain", "--", text])
            #expect(wrong.status == 64 && wrong.errors.contains("is neither a process nor a unit"), "\(wrong.errors)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make a pid namespace without one of users"))
    func `a process in another pid namespace is named as such`() throws {
        let daemon = try daemon("")
        let contained = Process()
        contained.executableURL = URL(filePath: "/usr/bin/unshare")
        contained.arguments = ["--pid", "--fork", "--kill-child", "/usr/bin/sleep", "600"]
        try contained.run()
        defer { end(contained) }
        let children = "/proc/\(contained.processIdentifier)/task/\(contained.processIdentifier)/children"
        var child = ""
        let hasChild = try settles {
            child = try String(contentsOfFile: children, encoding: .utf8).trimmingCharacters(in: .whitespaces)
            return !child.isEmpty
        }
        try #require(hasChild)
        let explained = lines(try daemon.coffer(["entitlement", "explain", child]))
        #expect(explained.first?.contains("in a container or another pid namespace") == true, "\(explained)")
        #expect(explained.last?.hasPrefix("refused:     a process in a container") == true, "\(explained)")
        let json = lines(try daemon.coffer(["entitlement", "explain", child, "--json"]))
        #expect(json.first?.contains(#""contained":true"#) == true && json.first?.contains(#""refused":true"#) == true)
    }
}
