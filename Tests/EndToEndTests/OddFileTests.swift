import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Files of the state directory that are none, or that others can write: refused by name, with the command that mends it.
@Suite(.timeLimit(.minutes(2))) struct OddFileTests {
    /// A directory with a vault of a secret and a file.
    private static let template = Result {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        try client.put("secret", [1])
        try client.put("file", pseudoRandomBytes(5000)) { $0.kind = .database }
        try #require(daemon.stop() == 0)
        return daemon.directory
    }

    /// A copy of the state directory.
    private func copy() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let source = try Self.template.get().appending("state")
        try FileManager.default.copyItem(atPath: source, toPath: directory.appending("state"))
        return directory
    }

    /// What is in a file's place, by the command that creates it.
    private static let kinds = ["mkfifo", "mkdir", "ln -s /etc/hostname"]

    private func shell(_ command: String) throws {
        let result = try runCommand("/bin/sh", ["-c", command])
        try #require(result.status == 0, "\(result.errors)")
    }

    /// Asks by the program: one that waits for an answer for ever is ended.
    private func coffer(_ daemon: DaemonProcess, _ arguments: String...) throws -> CommandResult {
        let path = "\(Project.binaries)/coffer"
        return try runCommand(
            "/usr/bin/timeout",
            ["10", path] + arguments,
            environment: ["COFFER_SOCKET": daemon.socketPath]
        )
    }

    /// The hint of what was answered.
    private func hint(_ result: CommandResult) throws -> String {
        let line = result.errors.split(separator: "\n").first { $0.hasPrefix("hint: ") }
        return String(try #require(line, "\(result.errors)").dropFirst("hint: ".count))
    }

    private static let files = [
        "keybag", "device.key", "vault.sqlite", "vault.sqlite-wal", "vault.sqlite-journal", "erasing", "attempts",
    ]

    @Test(arguments: files)
    func `nothing but a file keeps the daemon waiting in the place of one`(name: String) throws {
        let directory = try copy()
        let path = directory.appending("state/\(name)")
        if FileManager.default.fileExists(atPath: path) { try shell("mv \(path) \(path).kept") }
        try shell("mkfifo \(path)")
        let daemon = try DaemonProcess(in: directory)
        for kind in Self.kinds {
            try shell("rm -rf \(path) \(path).away; \(kind) \(path)")
            // A count that can't be read is one that nearly all guesses are used up of.
            if name == "attempts" { break }
            let found = try coffer(daemon, "status")
            #expect(found.status == 74, "\(kind): \(found.errors)")
            #expect(found.errors.contains("'\(path)' is no file"), "\(kind): \(found.errors)")
            try shell(try hint(found))
            try #require(!FileManager.default.fileExists(atPath: path))
        }
        if name == "attempts" {
            #expect(try daemon.connect().status().failedAttempts == 9)
        } else {
            if FileManager.default.fileExists(atPath: path + ".kept") { try shell("mv \(path).kept \(path)") }
            #expect(try daemon.connect().get("secret") == [1])
            #expect(try daemon.connect().get("file") == pseudoRandomBytes(5000))
        }
    }

    @Test func `nor does it in the place of a content, an overlay or their directory`() throws {
        let directory = try copy()
        let blobs = directory.appending("state/blobs")
        let shelf = try #require(try FileManager.default.contentsOfDirectory(atPath: blobs).first { $0.count == 2 })
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: "\(blobs)/\(shelf)").first)
        let daemon = try DaemonProcess(in: directory)
        for path in ["\(blobs)/\(shelf)/\(name)", "\(blobs)/\(shelf)"] {
            try shell("mv \(path) \(path).kept")
            for kind in Self.kinds {
                try shell("rm -rf \(path); \(kind) \(path)")
                let found = try coffer(daemon, "get", "file")
                #expect([65, 74].contains(found.status), "\(kind): \(found.errors)")
                #expect(try daemon.connect().get("secret") == [1])
            }
            try shell("rm -rf \(path); mv \(path).kept \(path)")
        }
        try shell("mkfifo \(blobs)/\(shelf)/\(name).overlay")
        let overlaid = try coffer(daemon, "file", "read", "file")
        #expect([65, 74].contains(overlaid.status), "\(overlaid.errors)")
        try shell("rm \(blobs)/\(shelf)/\(name).overlay")
        #expect(try daemon.connect().get("file") == pseudoRandomBytes(5000))
    }

    @Test func `nor in the place of the configuration, which others may not write either`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("cofferd.conf")
        let program = "\(Project.binaries)/cofferd"
        for (command, reason) in [
            ("mkfifo \(path)", "is no file"), ("touch \(path); chmod 666 \(path)", "can be written by others"),
        ] {
            try shell("rm -f \(path); \(command)")
            let found = try runCommand("/usr/bin/timeout", ["10", program, "--config", path, "--check"])
            #expect(found.status == 64)
            #expect(found.errors.contains("'\(path)' \(reason)"), "\(found.errors)")
        }
    }

    @Test(arguments: [
        ".", "keybag", "device.key", "attempts", "vault.sqlite", "vault.sqlite-wal", "blobs", "blobs/staging",
    ])
    func `what others can write is refused until the command of the hint is run`(name: String) throws {
        let directory = try copy()
        let path = directory.appending(name == "." ? "state" : "state/\(name)")
        for mode in [0o777, 0o720, 0o702] {
            if !FileManager.default.fileExists(atPath: path) { try directory.write([], to: "state/\(name)") }
            try #require(chmod(path, mode_t(mode)) == 0)
            let daemon = try DaemonProcess(in: directory)
            let refused = try coffer(daemon, "status")
            #expect(refused.status == 74, "\(mode): \(refused.errors)")
            let command = try hint(refused)
            #expect(command.hasPrefix("ch") && command.contains("'\(path)'"), "\(command)")
            try shell(String(command.prefix { $0 != "," }))
            let mended = try coffer(daemon, "status")
            #expect(mended.status == 0, "\(mode): \(mended.errors)")
            try #require(daemon.stop() == 0)
        }
    }

    @Test(.enabled(if: geteuid() == 0), arguments: [".", "keybag", "vault.sqlite", "blobs"])
    func `a vault of another user is refused, and nobody is told to take it`(name: String) throws {
        let directory = try copy()
        try #require(chown(directory.appending(name == "." ? "state" : "state/\(name)"), 4242, getegid()) == 0)
        let refused = try coffer(try DaemonProcess(in: directory), "status")
        #expect(refused.status == 74 && refused.errors.contains("belongs to user 4242"), "\(refused.errors)")
        #expect(!refused.errors.contains("chown") && !refused.errors.contains("sudo"), "\(refused.errors)")
    }
}
