import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What a peer, a person or a disk can do wrong: a clear error each time, the daemon alive, and every other item intact.
@Suite struct BadInputTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("other/secret", [1, 2, 3])
        try client.put("other/file", pseudoRandomBytes(5000)) { $0.kind = .database }
        return daemon
    }

    private func expectIntact(_ daemon: DaemonProcess) throws {
        let client = try daemon.connect()
        #expect(try client.get("other/secret") == [1, 2, 3])
        #expect(try client.get("other/file") == pseudoRandomBytes(5000))
        #expect(daemon.isRunning)
    }

    /// Sends bytes as they are and reads what comes until the daemon closes, or a reply is there.
    private func exchange(_ daemon: DaemonProcess, _ bytes: [UInt8], isEnd: Bool = false) throws -> [JSONValue] {
        let socket = try UnixSocket.connect(to: daemon.socketPath)
        _ = try socket.send(bytes.span.bytes)
        if isEnd { shutdown(socket.number, Int32(SHUT_WR)) }
        var decoder = FrameDecoder()
        var replies: [JSONValue] = []
        var timeout = timeval(tv_sec: 2, tv_usec: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(socket.number, &piece, piece.count), count > 0 {
            var offset = 0
            while let frame = try decoder.decode(piece.span.bytes.extracting(first: count), at: &offset) {
                replies.append(try frame.json.get())
            }
            if !isEnd && !replies.isEmpty { break }
        }
        return replies
    }

    private func frame(_ json: String) -> [UInt8] {
        FrameHeader.encode(jsonCount: json.utf8.count, payloadCount: 0) + Array(json.utf8)
    }

    private func code(_ reply: JSONValue?) -> String? {
        reply?.objectValue?["error"]?.objectValue?["data"]?.objectValue?["code"]?.stringValue
    }

    @Test(arguments: [
        ("this is not JSON", "param"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1}", "param"),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"vault.status\"}", "param"),
        ("[]", "param"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"vault.explode\"}", "unimplemented"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"item.show\"}", "param"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"item.show\",\"params\":{\"name\":\"a\",\"nmae\":1}}", "param"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"item.show\",\"params\":{\"name\":\"a\\u0000b\"}}", "param"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":0}}", "unimplemented"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"vault.unlock\"}", "param"),
    ])
    func `a request that makes no sense gets an error, and the connection goes on`(
        json: String,
        expected: String
    ) throws {
        let daemon = try vault()
        let status = #"{"jsonrpc":"2.0","id":2,"method":"vault.status"}"#
        let replies = try exchange(daemon, frame(json) + frame(status), isEnd: true)
        #expect(replies.count == 2)
        #expect(code(replies.first) == expected)
        #expect(replies.last?.objectValue?["result"] != nil)
        try expectIntact(daemon)
    }

    @Test(arguments: [
        [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0],
        [0, 0, 0, 2, 0xff, 0xff, 0xff, 0xff],
        [0, 0, 0, 0, 0, 0, 0, 0],
    ])
    func `a header with an impossible length is answered, and the connection closed`(header: [UInt8]) throws {
        let daemon = try vault()
        let replies = try exchange(
            daemon,
            header + frame(#"{"jsonrpc":"2.0","id":2,"method":"vault.status"}"#),
            isEnd: true
        )
        #expect(replies.count == 1)
        #expect(["dataTooLarge", "param"].contains(code(replies.first) ?? ""))
        try expectIntact(daemon)
    }

    @Test func `a frame that is cut short does nothing`() throws {
        let daemon = try vault()
        let whole = frame(#"{"jsonrpc":"2.0","id":1,"method":"item.remove","params":{"name":"other/secret"}}"#)
        for count in 0..<whole.count {
            let replies = try exchange(daemon, Array(whole.prefix(count)), isEnd: true)
            #expect(replies.isEmpty)
        }
        try expectIntact(daemon)
    }

    @Test func `a descriptor where none belongs is refused and closed`() throws {
        let daemon = try vault()
        // The connections that made the vault have to be gone.
        sleepSeconds(0.2)
        let before = try descriptorCount(daemon)
        let socket = try UnixSocket.connect(to: daemon.socketPath)
        let bytes = frame(#"{"jsonrpc":"2.0","id":1,"method":"vault.status"}"#)
        _ = try socket.send(bytes.span.bytes, passing: 0)
        var piece = [UInt8](repeating: 0, count: 4096)
        let count = read(socket.number, &piece, piece.count)
        #expect(String(decoding: piece.prefix(max(count, 0)), as: UTF8.self).contains("takes no descriptor"))
        close(socket.release())
        // The daemon can't be dumped, so only root sees its descriptors: anyone else tests the refusal alone.
        if let before { #expect(try settles { try descriptorCount(daemon) == before }) }
    }

    private func descriptorCount(_ daemon: DaemonProcess) throws -> Int? {
        guard geteuid() == 0 else { return nil }
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.processID)/fd").count
    }

    // MARK: The command line

    @Test(arguments: ["", "/a", "a/", "a//b", "..", "a/./b", String(repeating: "x", count: 4096)])
    func `a bad name is a usage error`(name: String) throws {
        let daemon = try vault()
        for verb in ["put", "get", "show", "remove"] {
            let result = try daemon.coffer([verb, "--", name], input: [1])
            #expect(result.status == 64)
            #expect(result.errors.hasPrefix("error: bad name:"))
        }
        try expectIntact(daemon)
    }

    @Test func `an empty secret is a secret, if it is meant`() throws {
        let daemon = try vault()
        #expect(try daemon.coffer(["put", "empty", "--allow-empty"]).status == 0)
        let result = try daemon.coffer(["get", "empty"])
        #expect(result.status == 0)
        #expect(result.output.isEmpty)
        #expect(try daemon.coffer(["show", "empty"]).text.contains("0 bytes"))
    }

    @Test func `each kind of failure has its exit code and says what to do`() throws {
        let daemon = try DaemonProcess()
        let noVault = try daemon.coffer(["get", "a"])
        #expect(noVault.status == 69)
        #expect(
            noVault.errors
                == "error: there is no vault yet\nhint: make one with 'coffer setup', or in a script with 'coffer init'\n"
        )
        let initialized = try daemon.coffer(["init", "--kdf", "interactive"], passcode: "pass x")
        #expect(initialized.status == 0)
        #expect(try daemon.coffer(["init"], passcode: "pass x").status == 73)
        let missing = try daemon.coffer(["get", "a"])
        #expect(missing.status == 66)
        #expect(missing.errors.hasPrefix("error: there is no item 'a'\nhint: "))
        let large = try daemon.coffer(["put", "a", "--kind", "token"], input: pseudoRandomBytes(32_769))
        #expect(large.status == 64)
        #expect(large.errors.contains("hint: store it as a document"))
        #expect(try daemon.coffer(["put", "a"], input: [1]).status == 0)
        #expect(try daemon.coffer(["lock", "--now"]).status == 0)
        let locked = try daemon.coffer(["get", "a"])
        #expect(locked.status == 75)
        #expect(locked.errors.contains("hint: run 'coffer unlock'"))
        #expect(try daemon.coffer(["unlock"], passcode: "y").status == 77)
        #expect(try daemon.coffer(["unlock"], passcode: "pass x\n").status == 0)
        #expect(try daemon.coffer(["put", "a", "/nonexistent"]).status == 74)
        #expect(try daemon.coffer(["put", "a", "--kind", "nonsense"]).status == 64)
        #expect(try daemon.coffer(["frobnicate"]).status == 64)
        #expect(try daemon.coffer(["put", "b", "--group", "no name"], input: [1]).status == 64)
        #expect(try daemon.coffer(["get", "a"]).output == [1])
    }

    @Test(
        arguments: [
            ([], "--help"), (["put"], "coffer put --help"),
            (["put", "a", "--kind", "x\u{1B}[2J"], "coffer put --help"),
            (["frobnicate"], "--help"), (["keychain", "find", "--nonsense"], "coffer keychain find --help"),
            (["file", "truncate", "a", "many"], "coffer file truncate --help"),
        ] as [([String], String)]
    )
    func `a wrong command line is reported like every other error`(arguments: [String], help: String) throws {
        let result = try runCommand("\(Project.binaries)/coffer", arguments)
        if arguments.isEmpty { return #expect(result.text.contains("USAGE: coffer")) }
        #expect(result.status == 64)
        #expect(result.text.isEmpty)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 2, "\(result.errors)")
        #expect(lines.first?.hasPrefix("error: ") == true)
        #expect(lines.last?.hasPrefix("hint: '") == true && lines.last?.contains(help) == true, "\(result.errors)")
        #expect(!result.errors.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    }

    @Test func `values that are possible, a size, and a descriptor that sudo has closed are named`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        let values = try daemon.coffer(["put", "x", "--scenario", "nope"], input: [1])
        #expect(values.errors.contains("one of the following: health, financial, userDocument, "), "\(values.errors)")
        let pipe = "head -c 40000 /dev/zero | coffer put x --kind password"
        let environment = ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"]
        let long = try runCommand("/bin/bash", ["-c", pipe], environment: environment)
        #expect(long.errors.contains("it has more than 32768 bytes, and the limit is 32768"), "\(long.errors)")
        let closed = try daemon.coffer(["unlock", "--passcode-fd", "200"])
        #expect(closed.status == 74 && closed.errors.contains("descriptor 200 is not open"), "\(closed.errors)")
        #expect(closed.errors.contains("'--passcode-fd 0'"), "\(closed.errors)")
    }

    @Test func `without a terminal a verb that needs a passcode fails immediately`() throws {
        let daemon = try vault()
        let result = try runCommand(
            "/usr/bin/setsid",
            ["--wait", "\(Project.binaries)/coffer", "unlock"],
            environment: ["COFFER_SOCKET": daemon.socketPath]
        )
        #expect(result.status == 64)
        #expect(result.errors.contains("there is no terminal to ask on"))
    }

    @Test func `a daemon that is not there is said to be not there`() throws {
        let directory = try TemporaryDirectory()
        let result = try runCommand(
            "\(Project.binaries)/coffer",
            ["status"],
            environment: ["COFFER_SOCKET": directory.appending("none")]
        )
        #expect(result.status == 69)
        #expect(result.errors.contains("can't reach the daemon"))
        #expect(result.errors.contains("hint: "))
    }

    @Test func `without a service manager the first command starts the daemon, and says so`() throws {
        let directory = try TemporaryDirectory()
        let environment = [
            "XDG_RUNTIME_DIR": directory.path, "STATE_DIRECTORY": directory.appending("state"), "HOME": directory.path,
        ]
        // Root has no daemon of its own: another user takes its place, who can't read every tree with programs.
        let isRoot = geteuid() == 0
        let programs = directory.appending("programs")
        if isRoot { try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: false) }
        for program in ["coffer", "cofferd"] where isRoot {
            try FileManager.default.copyItem(
                atPath: "\(Project.binaries)/\(program)",
                toPath: "\(programs)/\(program)"
            )
        }
        if isRoot { try #require(chown(directory.path, 65534, 65534) == 0) }
        let prefix =
            isRoot ? ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : ["/usr/bin/env"]
        let coffer = isRoot ? "\(programs)/coffer" : "\(Project.binaries)/coffer"
        func run(_ arguments: String...) throws -> CommandResult {
            try runCommand(prefix[0], prefix.dropFirst() + [coffer] + arguments, environment: environment)
        }
        let forbidden = try run("status", "--no-start")
        #expect(forbidden.status == 69)
        let first = try run("status", "--json")
        #expect(first.status == 0)
        #expect(first.errors.contains("starting cofferd"))
        #expect(first.text.contains(#""state":"noVault""#))
        let second = try run("status")
        #expect(second.errors.isEmpty)
        let socket = try UnixSocket.connect(to: directory.appending("coffer/coffer.sock"))
        kill(try PeerIdentity(of: socket).credentials.processID, SIGTERM)
    }

    // MARK: The disk

    @Test func `a state directory that can't be used is said to be, and works once it is mended`() throws {
        let directory = try TemporaryDirectory()
        // A file in the place of a directory stops root as well.
        try directory.write([], to: "state")
        let daemon = try DaemonProcess(in: directory)
        let result = try daemon.coffer(["status"])
        #expect(result.status == 74)
        #expect(result.errors.contains("can't use the state directory"))
        try FileManager.default.removeItem(atPath: daemon.statePath)
        #expect(try daemon.coffer(["status"]).status == 0)
        #expect(try daemon.coffer(["init", "--no-passcode"]).status == 0)
    }

    @Test func `a keybag that was cut short is called damaged, and nothing is overwritten`() throws {
        let daemon = try vault()
        daemon.stop()
        let path = daemon.statePath + "/keybag"
        let whole = try Data(contentsOf: URL(filePath: path))
        for count in [0, 1, 100, whole.count - 1] {
            try whole.prefix(count).write(to: URL(filePath: path))
            try daemon.restart()
            let status = try daemon.coffer(["status"])
            #expect(status.status == 65)
            #expect(status.errors.contains("the keybag is damaged"))
            #expect(try daemon.coffer(["init", "--no-passcode"]).status == 65)
            daemon.stop()
            #expect(try Data(contentsOf: URL(filePath: path)) == whole.prefix(count))
        }
        try whole.write(to: URL(filePath: path))
        try daemon.restart()
        try daemon.connect().unlock()
        try expectIntact(daemon)
    }

    @Test func `a catalog without its keybag is not taken for nothing`() throws {
        let daemon = try vault()
        daemon.stop()
        let path = daemon.statePath + "/keybag"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
        try daemon.restart()
        let result = try daemon.coffer(["init", "--no-passcode"])
        #expect(result.status == 69)
        #expect(result.errors.contains("the keybag is missing"))
        daemon.stop()
        try FileManager.default.moveItem(atPath: path + ".aside", toPath: path)
        try daemon.restart()
        try daemon.connect().unlock()
        try expectIntact(daemon)
    }

    @Test(arguments: [true, false])
    func `a catalog that is lost is not taken for an empty one`(isRemoved: Bool) throws {
        let daemon = try vault()
        daemon.stop()
        let path = daemon.statePath + "/vault.sqlite"
        let whole = try Data(contentsOf: URL(filePath: path))
        if isRemoved {
            try FileManager.default.removeItem(atPath: path)
        } else {
            try Data().write(to: URL(filePath: path))
        }
        try daemon.restart()
        let result = try daemon.coffer(["status"])
        #expect(result.status == 69)
        #expect(result.errors.contains("the catalog of this vault is missing or was emptied"))
        daemon.stop()
        try whole.write(to: URL(filePath: path))
        try daemon.restart()
        try daemon.connect().unlock()
        try expectIntact(daemon)
    }

    @Test func `output that can't be written is an error`() throws {
        let daemon = try vault()
        for verb in ["list", "status", "get other/file", "get other/secret"] {
            let result = try runCommand(
                "/bin/bash",
                ["-c", "coffer \(verb) >/dev/full"],
                environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"]
            )
            #expect(result.status == 74, "\(verb)")
        }
    }

    @Test func `a closed descriptor is not taken for the passcode, nor closed output for a socket`() throws {
        let daemon = try vault()
        let environment = ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"]
        let passcode = try runCommand(
            "/bin/bash",
            ["-c", "timeout 10 coffer unlock --passcode-fd 3 3<&-"],
            environment: environment
        )
        #expect(passcode.status == 74)
        let output = try runCommand(
            "/bin/bash",
            ["-c", "timeout 10 coffer get other/file >&-"],
            environment: environment
        )
        #expect(output.status != 0 && output.status != 124)
    }

    @Test func `a file whose content was changed on disk is called damaged, and the others are read`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        try client.put("hurt", pseudoRandomBytes(200_000)) { $0.kind = .database }
        let blobs = try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath + "/blobs")
            .map { daemon.statePath + "/blobs/" + $0 }
        let path = try #require(
            blobs.first { (try? FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int) ?? 0 > 200_000 }
        )
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[150_000] ^= 1
        try bytes.write(to: URL(filePath: path))
        let result = try daemon.coffer(["get", "hurt", "--output", "copy"])
        #expect(result.status == 65)
        #expect(result.errors.contains("chunk 2 of its content is not authentic"))
        #expect(!FileManager.default.fileExists(atPath: daemon.directory.appending("copy")))
        try expectIntact(daemon)
    }

    @Test func `a second daemon does not touch a vault that is in use`() throws {
        let daemon = try vault()
        let other = try TemporaryDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: other.appending("state"),
            withDestinationPath: daemon.statePath
        )
        let second = try DaemonProcess(in: other)
        let result = try second.coffer(["status"])
        #expect(result.status == 69)
        #expect(result.errors.contains("another cofferd is using this vault"))
        try expectIntact(daemon)
    }
}
