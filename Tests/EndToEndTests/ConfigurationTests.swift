import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What the administrator sets, through the real programs.
@Suite struct ConfigurationTests {
    private func daemon(_ text: String) throws -> (daemon: DaemonProcess, path: String) {
        let directory = try TemporaryDirectory()
        let path = try directory.write(Array(text.utf8), to: "cofferd.conf")
        let daemon = try DaemonProcess(in: directory, ["--config", path])
        try daemon.connect().makeVault()
        return (daemon, path)
    }

    private func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }

    /// The daemon takes a signal when it comes to it.
    private func eventually(_ holds: () throws -> Bool) throws {
        #expect(try settles(holds))
    }

    private func put(_ daemon: DaemonProcess, _ arguments: [String], bytes: Int = 5000) throws -> String {
        let result = try daemon.put(arguments, input: [UInt8](repeating: 7, count: bytes))
        #expect(result.status == 0, "\(result.errors)")
        return result.text
    }

    @Test(arguments: [1, 1_000_000, UInt64.max - 1])
    func `a watchdog may have any period`(microseconds: UInt64) throws {
        let launcher = ["/usr/bin/env", "WATCHDOG_USEC=\(microseconds)"]
        let daemon = try DaemonProcess(launchedBy: launcher)
        #expect(try daemon.connect().status().state == .noVault)
        #expect(daemon.stop() == 0)
    }

    @Test func `names have their defaults, and words of the caller come first`() throws {
        let (daemon, _) = try daemon("[Default]\nName=health/**\nClass=complete\n[Routing]\nSmallBytes=10\n")
        #expect(try put(daemon, ["health/a/b"]).contains("as complete (R8)"))
        #expect(try put(daemon, ["health/c", "--scenario", "cache"]).contains("as complete (R8)"))
        #expect(try put(daemon, ["health/d", "--protection", "none"]).contains("as none (R8)"))
        #expect(try put(daemon, ["work"]).contains("as completeUntilFirstUserAuthentication (R8)"))
        #expect(try put(daemon, ["ten"], bytes: 10).contains("in the keychain as WhenUnlocked (R6)"))
        #expect(try put(daemon, ["eleven"], bytes: 11).contains("in the file store"))
        let explained = try daemon.coffer(["explain", "health/a/b"])
        #expect(explained.text.contains("while unlocked"))
        // A rewrite keeps what the item has, whatever is set now.
        #expect(try put(daemon, ["health/d"]).contains("as none (R8)"))
    }

    @Test func `a default counts for files that are made without a put, before that of all new files`() throws {
        let (daemon, _) = try daemon("[Default]\nName=health/**\nClass=complete\n")
        let client = try daemon.connect()
        func made(_ name: String) throws -> ProtectionClass? {
            #expect(try daemon.coffer(["file", "create", name], input: [7]).status == 0)
            return try client.fileInfo(try ItemName(name)).protectionClass
        }
        #expect(try made("health/a") == .complete)
        #expect(try made("work/a") == .completeUntilFirstUserAuthentication)
        #expect(try daemon.coffer(["protect", "/", "completeUnlessOpen", "--default"]).status == 0)
        #expect(try made("health/b") == .complete)
        #expect(try made("work/b") == .completeUnlessOpen)
    }

    @Test func `a client has its defaults`() throws {
        let (daemon, _) = try daemon("[Default]\nClient=exe:\(Project.binaries)/coffer\nAccessible=AfterFirstUnlock\n")
        #expect(try put(daemon, ["token"], bytes: 20).contains("as AfterFirstUnlock (R6)"))
        try daemon.connect().put("other", [1])
        #expect(try daemon.coffer(["show", "other"]).text.contains("while unlocked"))
    }

    @Test func `a file is reloaded on SIGHUP, and an invalid one leaves the last valid one`() throws {
        let (daemon, path) = try daemon("[Default]\nName=a*\nClass=complete\n")
        #expect(try put(daemon, ["a1"]).contains("as complete "))
        try write("[Default]\nName=a*\nClass=none\n", to: path)
        #expect(try put(daemon, ["a2"]).contains("as complete "))
        kill(daemon.processID, SIGHUP)
        try eventually { try put(daemon, ["a3-\(UUID())"]).contains("as none ") }
        try write("[Default]\nName=a*\nKlass=complete\n", to: path)
        kill(daemon.processID, SIGHUP)
        try eventually {
            try daemon.coffer(["status"]).errors.contains("line 3: there is no setting 'Klass' in [Default]")
        }
        #expect(try daemon.coffer(["status"]).status == 0)
        #expect(try put(daemon, ["a4"]).contains("as none "))
        // What is read at the start only is not passed over either.
        for (number, wrong) in ["[Servce]", "[Service]\nGrace=99", "[Service]\nCarryOver=perhaps"].enumerated() {
            try write("[Default]\nName=a*\nClass=complete\n\(wrong)\n", to: path)
            kill(daemon.processID, SIGHUP)
            try eventually { try daemon.coffer(["status"]).errors.contains("line \(number == 0 ? 4 : 5): ") }
            #expect(try put(daemon, ["a-wrong-\(number)"]).contains("as none "))
        }
        try write("", to: path)
        kill(daemon.processID, SIGHUP)
        try eventually { try daemon.coffer(["status"]).errors.isEmpty }
        #expect(try put(daemon, ["a5"]).contains("as completeUntilFirstUserAuthentication "))
    }

    @Test func `a daemon does not start with a wrong file, and says where it is wrong`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(Array("[Service]\nGrace=11\n".utf8), to: "cofferd.conf")
        let common = [
            "--config", path, "--state", directory.appending("state"), "--socket", directory.appending("socket"),
        ]
        let refused = try runCommand("\(Project.binaries)/cofferd", common)
        #expect(refused.status == 64)
        #expect(refused.errors.contains("'\(path)', line 2: "), "\(refused.errors)")
        let checked = try runCommand("\(Project.binaries)/cofferd", common + ["--check"])
        #expect(checked.status == 64)
        try write("[Service]\nGrace=3\nCarryOver=no\nLockAfter=60\n[Routing]\nSmallBytes=1\n", to: path)
        let right = try runCommand("\(Project.binaries)/cofferd", common + ["--check"])
        #expect(right.status == 0)
        #expect(right.text == "'\(path)' is right\n")
        #expect(!FileManager.default.fileExists(atPath: directory.appending("state")))
        let missing = try runCommand(
            "\(Project.binaries)/cofferd",
            ["--config", directory.appending("none"), "--check"]
        )
        #expect(missing.status == 64)
        try write("[Servce]\n", to: path)
        let section = try runCommand("\(Project.binaries)/cofferd", common + ["--check"])
        #expect(section.errors.contains("line 1: there is no section [Servce]"))
    }

    /// The options of the daemon that are settings as well, as its help names them.
    private func settings() throws -> [(flag: String, value: String?, name: String)] {
        let help = try runCommand("\(Project.binaries)/cofferd", ["--help"]).text
        return help.matches(of: /\n  (--[a-z-]+)(?: (SECONDS|PATH|DIR|FILE|yes\|no))?\s+([A-Z][A-Za-z]+)=/).map {
            match in
            (String(match.1), match.2.map(String.init), String(match.3))
        }
    }

    /// How the daemon takes some arguments: its exit code, and what it says is wrong.
    private func check(_ arguments: [String]) throws -> (status: Int32, error: String) {
        // Where the vault is by default is said by the home directory, which a service has none of.
        let command = ["HOME=/nonexistent", "\(Project.binaries)/cofferd"] + arguments + ["--check"]
        let result = try runCommand("/usr/bin/env", command)
        let first = result.errors.split(separator: "\n").first.map(String.init) ?? ""
        return (result.status, first.replacing("error: ", with: ""))
    }

    @Test func `an option and its setting take the same values, and refuse the others in the same words`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("cofferd.conf")
        try write("", to: path)
        let settings = try settings()
        #expect(settings.count == 17)
        let bounds = ["--grace": 10, "--credential-wait": 3600]
        for (flag, kind, name) in settings {
            let greatest = bounds[flag] ?? 31_536_000
            let values =
                switch kind {
                case "SECONDS": ["\(greatest)", "\(greatest + 1)", "-1", "1.5"]
                case "yes|no": ["yes", "maybe"]
                default: ["some/place"]
                }
            for value in kind == nil ? [] : values {
                let given = try check(["--config", path, flag, value])
                try write("[Service]\n\(name)=\(value)\n", to: path)
                let set = try check(["--config", path])
                try write("", to: path)
                #expect(given.status == set.status, "\(flag) \(value)")
                #expect(
                    (given.status == 0) == ["\(greatest)", "yes", "some/place"].contains(value),
                    "\(flag) \(value)"
                )
                if given.status != 0 { #expect(set.error == "'\(path)', line 2: \(given.error)") }
            }
            if kind == nil {
                for value in ["yes", "no", "1"] {
                    try write("[Service]\n\(name)=\(value)\n", to: path)
                    #expect(try check(["--config", path]).status == (value == "1" ? 64 : 0), "\(name)=\(value)")
                }
                try write("", to: path)
                #expect(try check(["--config", path, flag]).status == 0)
                #expect(try check(["--config", path, flag + "=yes"]).error == "unknown option '\(flag)'")
            }
        }
    }

    @Test func `the page of the configuration has every setting`() throws {
        let page = try String(contentsOfFile: "\(Project.root)/proto-docs/ROUTING.md", encoding: .utf8)
        for setting in try settings() { #expect(page.contains("`\(setting.name)`"), "\(setting.name)") }
    }

    @Test func `the user's own file comes before the machine's, and the command line before both`() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory.appending("coffer"),
            withIntermediateDirectories: true
        )
        try directory.write(Array("[Service]\nGrace=99\n".utf8), to: "coffer/cofferd.conf")
        let environment = ["XDG_CONFIG_HOME": directory.path]
        let found = try runCommand("\(Project.binaries)/cofferd", ["--check"], environment: environment)
        #expect(found.status == 64)
        #expect(found.errors.contains("coffer/cofferd.conf', line 2: --grace '99'"), "\(found.errors)")
        let (daemon, _) = try daemon("[Service]\nGrace=0\n")
        _ = try daemon.coffer(["lock"])
        #expect(try daemon.connect().status().state == .locked)
    }
}
