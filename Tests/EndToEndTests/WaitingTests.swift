import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What waits for a vault, and for how long.
@Suite struct WaitingTests {
    private func vault(_ options: [String] = []) throws -> DaemonProcess {
        let daemon = try DaemonProcess(options)
        try daemon.connect().makeVault()
        return daemon
    }

    /// Runs `coffer`, and does something to the vault while it runs.
    ///
    /// - Returns: Its result, and the seconds that it took.
    private func run(
        _ daemon: DaemonProcess,
        _ words: String,
        meanwhile change: () throws -> Void = {}
    ) throws -> (result: CommandResult, seconds: Double) {
        let start = ContinuousClock.now
        let arguments = words.split(separator: " ").map(String.init)
        let running = Background { try daemon.coffer(arguments) }
        sleepSeconds(0.5)
        try change()
        let result = try running.wait()
        return (result, (ContinuousClock.now - start) / .seconds(1))
    }

    // MARK: A silent daemon

    @Test(arguments: ["get token", "list", "put token", "status", "file read large", "wait unlocked"])
    func `a stopped daemon does not hang a command`(words: String) throws {
        let daemon = try vault()
        try daemon.connect().put("token", [1])
        kill(daemon.processID, SIGSTOP)
        let (result, seconds) = try run(daemon, "\(words) --timeout 2\(words.hasPrefix("put") ? " --allow-empty" : "")")
        #expect(result.status == 69)
        #expect(result.errors.hasPrefix("error: the daemon does not answer: nothing has come from it for 2 s\nhint: "))
        #expect(seconds < 10)
        kill(daemon.processID, SIGCONT)
        #expect(try daemon.coffer(["get", "token"]).status == 0)
    }

    @Test(
        arguments: [
            "x=$($C get large --timeout 2)", "$C get large --timeout 2 | cat", "$C file read large --timeout 2 | cat",
            "$C get token --timeout 2 | cat", "cat /dev/zero | $C put x --timeout 2",
        ]
    )
    func `a stopped daemon holds no stream of a command beyond its time-out`(line: String) throws {
        let daemon = try vault()
        try daemon.connect().put("token", [1])
        try daemon.connect().put("large", [UInt8](repeating: 7, count: 1 << 20))
        kill(daemon.processID, SIGSTOP)
        let script = "C='\(Project.binaries)/coffer --socket \(daemon.socketPath)'; \(line)"
        let start = ContinuousClock.now
        let result = try runCommand("/bin/bash", ["-o", "pipefail", "-c", script])
        #expect(result.status == 69, "\(result.errors)")
        #expect(ContinuousClock.now - start < .seconds(60))
        kill(daemon.processID, SIGCONT)
        #expect(try daemon.coffer(["get", "token"]).status == 0)
    }

    @Test func `a content passes a pipe, a file that is appended to, and a device whole`() throws {
        let daemon = try vault()
        let content = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try daemon.connect().put("large", content)
        let path = daemon.directory.appending("copy")
        let coffer = "'\(Project.binaries)/coffer' --socket '\(daemon.socketPath)'"
        func run(_ line: String) throws -> CommandResult {
            try runCommand("/bin/bash", ["-o", "pipefail", "-c", line])
        }
        for end in ["", " | cat", " > \(path); cat \(path)"] {
            let line = "\(coffer) get large\(end)"
            #expect(try run(line).output == content, "\(line)")
        }
        #expect(try run("\(coffer) get large >> \(path); cat \(path)").output == content + content)
        #expect(try run("\(coffer) get large > /dev/null").status == 0)
        #expect(try run("\(coffer) get large > /dev/full").status == 74)
        #expect(try run("\(coffer) get large | head -c 1").output == [content[0]])
        for line in ["cat \(path) | \(coffer) put again", "\(coffer) put again < \(path)"] {
            #expect(try run("\(line) >/dev/null && \(coffer) get again").output == content + content, "\(line)")
        }
    }

    @Test func `a daemon that goes on in time is waited for`() throws {
        let daemon = try vault()
        try daemon.connect().put("token", [1])
        kill(daemon.processID, SIGSTOP)
        let (result, _) = try run(daemon, "get token --timeout 20") {
            sleepSeconds(1)
            kill(daemon.processID, SIGCONT)
        }
        #expect(result.status == 0 && result.output == [1])
    }

    @Test func `a transfer whose other end is slow is not cut off`() throws {
        let daemon = try vault()
        let put = "(head -c 100000 /dev/zero; sleep 4; head -c 100000 /dev/zero) | coffer put slow --timeout 1"
        let result = try runCommand(
            "/bin/bash",
            ["-c", put],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"]
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try daemon.connect().show(try ItemName("slow")).byteCount == 200_000)
    }

    // MARK: coffer wait

    @Test func `wait ends when what it waits for has come about`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        try client.put("token", [1])
        #expect(try daemon.coffer(["wait", "unlocked"]).status == 0)
        #expect(try daemon.coffer(["wait", "readable", "token"]).status == 0)
        let locked = try run(daemon, "wait locked") { _ = try client.lock(graceSeconds: 0) }
        #expect(locked.result.status == 0 && locked.result.output.isEmpty && locked.seconds >= 0.5)
        #expect(try daemon.coffer(["wait", "locked"]).status == 0)
        for words in ["wait unlocked", "wait readable token"] {
            let (result, seconds) = try run(daemon, words) { try client.unlock() }
            #expect(result.status == 0, "\(words): \(result.errors)")
            #expect(seconds >= 0.5)
            _ = try client.lock(graceSeconds: 0)
        }
    }

    @Test func `wait is over after its time, or when what it waits for can't come about`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        try client.put("token", [1])
        func wait(_ words: String...) throws -> Int32 { try daemon.coffer(["wait"] + words).status }
        #expect(try wait("locked", "--timeout", "1") == 75)
        _ = try client.lock(graceSeconds: 0)
        let late = try daemon.coffer(["wait", "readable", "token", "--timeout", "1"])
        #expect(late.status == 75)
        #expect(late.errors.hasPrefix("error: the time to wait is over, and 'token' is locked\nhint: "))
        #expect(try wait("unlocked", "--timeout", "0") == 75)
        #expect(try wait("readable", "nothing") == 66)
        #expect(try wait("readable") == 64)
        #expect(try wait("unlocked", "token") == 64)
        let removed = try run(daemon, "wait readable token") { try client.remove(try ItemName("token")) }
        #expect(removed.result.status == 66)
        let dead = try run(daemon, "wait unlocked") { daemon.kill() }
        #expect(dead.result.status == 69)
    }

    @Test func `a vault that is never locked is not waited for`() throws {
        let daemon = try DaemonProcess()
        #expect(try daemon.coffer(["wait", "unlocked"]).status == 69)
        try daemon.connect().makeVault(passcode: nil)
        #expect(try daemon.coffer(["wait", "unlocked"]).status == 0)
        let never = try daemon.coffer(["wait", "locked"])
        #expect(never.status == 69 && never.errors.contains("never locked"))
    }

    // MARK: --wait

    @Test(
        arguments: [
            "get token", "get large --output out", "file read large --output out", "keychain find --account token",
            "keychain history --account token --number 1 --output out",
        ]
    )
    func `what reads waits for an unlock, if it is told to`(words: String) throws {
        let daemon = try vault()
        let client = try daemon.connect()
        try client.put("token", [1])
        try client.put("token", [2])
        try client.put("large", pseudoRandomBytes(100_000)) { $0.protectionClass = .complete }
        _ = try client.lock(graceSeconds: 0)
        #expect(try run(daemon, words).result.status == 75)
        let (late, seconds) = try run(daemon, "\(words) --wait 1")
        #expect(late.status == 75 && seconds >= 1, "\(late.errors)")
        let (result, _) = try run(daemon, "\(words) --wait 60") { try client.unlock() }
        #expect(result.status == 0, "\(result.errors)")
        let bytes = words.contains("--output") ? daemon.directory.contents("out") ?? [] : result.output
        #expect(bytes == (words.contains("large") ? pseudoRandomBytes(100_000) : [words.contains("history") ? 1 : 2]))
        #expect(try run(daemon, "get nothing --wait 60").result.status == 66)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func `one whom only a rule lets in waits for an unlock, too, and for nothing that the rule does not name`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        for name in ["deploy/token", "deploy/other"] { try client.put(name, [1, 2]) }
        // Another user can't read every tree with programs.
        let coffer = daemon.directory.appending("coffer")
        try FileManager.default.copyItem(atPath: "\(Project.binaries)/coffer", toPath: coffer)
        daemon.openToOthers()
        func ask(_ words: String) throws -> CommandResult {
            let other = ["--reuid=65534", "--regid=65534", "--clear-groups", coffer]
            return try runCommand(
                "/usr/bin/setpriv",
                other + words.split(separator: " ").map(String.init),
                environment: ["COFFER_SOCKET": daemon.socketPath],
                directory: "/"
            )
        }
        #expect(try ask("wait unlocked").status == 77)
        let granted = try daemon.coffer(["grant", "deploy/token", "--to", "uid:65534", "--for", "1h"])
        try #require(granted.status == 0, "\(granted.errors)")
        _ = try client.lock(graceSeconds: 0)
        for words in ["get deploy/other --wait 600", "wait readable deploy/other --timeout 600"] {
            #expect(try ask(words).status == 77, "\(words)")
        }
        for words in ["get deploy/token --wait", "wait unlocked --timeout", "wait readable deploy/token --timeout"] {
            let late = try ask("\(words) 1")
            #expect(late.status == 75, "\(words)")
            #expect(late.errors.hasPrefix("error: the time to wait is over, and "), "\(words): \(late.errors)")
            let waiting = Background { try ask("\(words) 600") }
            sleepSeconds(0.5)
            try client.unlock()
            let result = try waiting.wait()
            #expect(result.status == 0, "\(words): \(result.errors)")
            #expect(result.output == (words.hasPrefix("get") ? [1, 2] : []), "\(words)")
            _ = try client.lock(graceSeconds: 0)
        }
    }

    // MARK: Events

    @Test func `watch tells of the end of class CX, and of the fall to before first unlock`() throws {
        let daemon = try vault(["--inactive-after", "1", "--forget-after", "2"])
        let watching = Process()
        let output = daemon.directory.appending("events")
        try Data().write(to: URL(filePath: output))
        watching.executableURL = URL(filePath: "\(Project.binaries)/coffer")
        watching.arguments = ["watch"]
        watching.environment = ["COFFER_SOCKET": daemon.socketPath]
        watching.standardOutput = FileHandle(forWritingAtPath: output)
        try watching.run()
        defer { watching.terminate() }
        func seen() throws -> String { try String(contentsOfFile: output, encoding: .utf8) }
        #expect(try settles { try seen() == "unlocked\n" })
        _ = try daemon.connect().lock(graceSeconds: 0)
        #expect(try settles { try seen().contains("as after a start") })
        #expect(
            try seen() == """
                unlocked
                locking
                locked
                inactive keys wiped: what is readable until inactive can't be read
                locked as after a start: only what is always readable can be read

                """
        )
        #expect(try daemon.connect().status().state == .beforeFirstUnlock)
    }

    @Test func `watch with --units has the service manager follow the state, and ends with the daemon`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        for folder in ["systemd", "tools"] {
            let path = daemon.directory.appending(folder)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        // A user without this has no service manager.
        try daemon.directory.write([], to: "systemd/private")
        let calls = try daemon.directory.write([], to: "calls")
        let tool = "#!/bin/sh\necho \"$*\" >>\(calls)\n"
        try daemon.directory.write(Array(tool.utf8), to: "tools/systemctl", mode: 0o755)
        func watch(_ options: String...) throws -> CommandResult {
            try runCommand(
                "\(Project.binaries)/coffer",
                ["watch", "--units"] + options,
                environment: [
                    "COFFER_SOCKET": daemon.socketPath, "XDG_RUNTIME_DIR": daemon.directory.path,
                    "PATH": "\(daemon.directory.appending("tools")):/usr/bin:/bin",
                ]
            )
        }
        for option in ["--items", "--attempts", "--group=default", "--json"] {
            #expect(try watch(option).status == 64, "\(option)")
        }
        let watching = Background { try watch() }
        /// Whether the last two calls come to be these.
        func comes(_ last: String...) throws -> Bool {
            let manager = geteuid() == 0 ? "--system" : "--user"
            let wanted = last.map {
                let words = $0.split(separator: " ")
                return "\(manager) --quiet \(words[0]) --no-block coffer-\(words[1]).target"
            }
            return try settles {
                let all = try String(contentsOfFile: calls, encoding: .utf8).split(separator: "\n").map(String.init)
                return Array(all.suffix(2)) == wanted
            }
        }
        #expect(try comes("start first-unlock", "start unlocked"))
        _ = try client.lock(graceSeconds: 0)
        #expect(try comes("stop unlocked", "start first-unlock"))
        try client.unlock()
        #expect(try comes("start first-unlock", "start unlocked"))
        _ = try client.lock(graceSeconds: 10)
        #expect(try comes("stop unlocked", "start first-unlock"))
        daemon.kill()
        let ended = try watching.wait()
        #expect(ended.status == 69 && ended.output.isEmpty, "\(ended)")
    }
}
