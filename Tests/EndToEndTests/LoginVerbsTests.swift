import CofferTestSupport
import Foundation
import Testing

/// The verbs that a login uses, without one.
@Suite struct LoginVerbsTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        for (name, text) in [("pass", "pass one"), ("other", "pass two"), ("wrong", "no pass")] {
            try daemon.directory.write(Array(text.utf8), to: name)
        }
        #expect(try run("coffer init --kdf interactive --no-recovery-key --passcode-fd 3 3<pass").status == 0)
    }

    /// Runs a line of a shell in the daemon's directory, without a terminal.
    private func run(_ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-c", line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "XDG_CONFIG_HOME": daemon.directory.appending("config"),
                "PATH": "\(Project.binaries):/usr/bin:/bin",
            ],
            directory: daemon.directory.path
        )
    }

    /// The vault that the login unlocks.
    private var mark: String? {
        daemon.directory.contents("config/coffer/login-vault").map { String(decoding: $0, as: UTF8.self) }
    }

    /// The first two lines of the status.
    private func found() throws -> [Substring] {
        try run("coffer status").text.split(separator: "\n").prefix(2).map { $0.dropFirst(11).prefix { $0 != ":" } }
    }

    @Test func `what is enabled names the vault, for its owner only, until it is disabled`() throws {
        #expect(try run("coffer login enable --passcode-fd 3 3<wrong").status == 77)
        #expect(mark == nil)
        let enabled = try run("coffer login enable --passcode-fd 3 3<pass")
        #expect(enabled.status == 0, "\(enabled.errors)")
        let status = try run("coffer status --json").text
        let vault = try #require(mark?.split(separator: "\n").first)
        #expect(status.contains("\"\(vault)\""))
        let attributes = try FileManager.default.attributesOfItem(
            atPath: daemon.directory.appending("config/coffer/login-vault")
        )
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try run("coffer login disable").status == 0)
        #expect(mark == nil)
        #expect(try run("coffer login disable").status == 0, "and once more")
    }

    @Test func `a login unlocks what was enabled, and tries nothing else`() throws {
        #expect(try run("coffer lock --now").status == 0)
        let nothing = try run("coffer login unlock --passcode-fd 3 3<wrong")
        #expect(nothing.status == 0 && nothing.errors.isEmpty)
        #expect(try found() == ["locked", "0 wrong passcodes; the tenth ends the attempts"])
        #expect(try run("coffer login enable --passcode-fd 3 3<pass; coffer lock --now").status == 0)
        let unlocked = try run("coffer login unlock --passcode-fd 3 3<pass")
        #expect(unlocked.status == 0 && unlocked.text.isEmpty && unlocked.errors.isEmpty)
        #expect(try found().first == "unlocked")
        #expect(try run("coffer login unlock --passcode-fd 3 3<wrong").status == 0, "it is unlocked already")
        #expect(try found().last?.first == "0")
    }

    @Test func `another vault is not given the password`() throws {
        try FileManager.default.createDirectory(
            atPath: daemon.directory.appending("config/coffer"),
            withIntermediateDirectories: true
        )
        try daemon.directory.write(
            Array("\(String(repeating: "0", count: 32))\n".utf8),
            to: "config/coffer/login-vault"
        )
        let line = "coffer lock --now; coffer login unlock --passcode-fd 3 3<wrong"
        #expect(try run(line).status == 0)
        #expect(try found() == ["locked", "0 wrong passcodes; the tenth ends the attempts"])
        #expect(try run("coffer login change --passcode-fd 3 --new-passcode-fd 4 3<wrong 4<other").status == 0)
        #expect(try found().last?.first == "0")
    }

    @Test func `a wrong password is tried once`() throws {
        #expect(try run("coffer login enable --passcode-fd 3 3<pass; coffer lock --now").status == 0)
        let wrong = try run("coffer login unlock --passcode-fd 3 3<wrong")
        #expect(wrong.status == 77)
        #expect(wrong.errors.contains("the login does not unlock it any more"), "\(wrong.errors)")
        #expect(mark == nil)
        #expect(try run("coffer login unlock --passcode-fd 3 3<other").status == 0)
        #expect(try found() == ["locked", "1 wrong passcode; the tenth ends the attempts"])
    }

    @Test func `no password is tried where a wrong one would delay the person`() throws {
        #expect(try run("coffer login enable --passcode-fd 3 3<pass; coffer lock --now").status == 0)
        for guess in 1...3 { #expect(try run("printf \(guess) | coffer unlock --passcode-fd 0").status == 77) }
        let refused = try run("coffer login unlock --passcode-fd 3 3<pass")
        #expect(refused.status == 77)
        #expect(refused.errors.contains("not tried after 3 wrong passcodes"), "\(refused.errors)")
        #expect(mark != nil, "the next login may")
        #expect(try found().first == "locked")
        #expect(try run("coffer unlock --passcode-fd 3 3<pass; coffer lock --now").status == 0)
        #expect(try run("coffer login unlock --passcode-fd 3 3<pass").status == 0)
        #expect(try found().first == "unlocked")
    }

    @Test func `the passcode follows the password, where the old one is known`() throws {
        let change = "coffer login change --passcode-fd 3 --new-passcode-fd 4"
        #expect(try run("\(change) 3<pass 4<other").status == 0, "nothing was enabled")
        #expect(try run("coffer login enable --passcode-fd 3 3<pass").status == 0)
        #expect(try run("\(change) 3<pass 4<other").status == 0)
        #expect(try run("coffer unlock --passcode-fd 3 3<pass").status == 77)
        #expect(try run("coffer unlock --passcode-fd 3 3<other").status == 0)
        let unknown = try run("coffer login change")
        #expect(unknown.status == 77)
        #expect(unknown.errors.contains("the vault keeps its passcode"), "\(unknown.errors)")
        #expect(mark == nil)
        #expect(try run("coffer login change").status == 0, "nothing follows any more")
    }

    @Test func `a passcode that can't follow is not followed`() throws {
        #expect(try run("coffer login enable --passcode-fd 3 3<pass").status == 0)
        let away = try run(
            "coffer login change --socket nowhere --passcode-fd 3 --new-passcode-fd 4 3<pass 4<other"
        )
        #expect(away.status == 69)
        #expect(away.errors.contains("the login does not unlock it any more: can't reach the daemon"), "\(away.errors)")
        #expect(mark == nil)
        #expect(try run("coffer unlock --passcode-fd 3 3<pass").status == 0)
    }
}
