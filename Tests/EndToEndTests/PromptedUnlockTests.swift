import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `coffer unlock --prompt`, as a panel or a key of the desktop runs it.
@Suite struct PromptedUnlockTests {
    private let daemon: DaemonProcess
    private let pinentry: FakePinentry

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        try daemon.connect().lock(graceSeconds: 0)
        pinentry = try FakePinentry()
    }

    /// Runs it without a terminal.
    private func unlock(_ words: String..., with changes: [String: String] = [:]) throws -> CommandResult {
        let variables = ["COFFER_SOCKET": daemon.socketPath].merging(pinentry.variables) { $1 }.merging(changes) { $1 }
        let assignments = variables.map { "\($0.key)=\($0.value)" }
        return try runCommand(
            "/usr/bin/setsid",
            ["--wait", "env", "--ignore-environment"] + assignments + ["\(Project.binaries)/coffer", "unlock"] + words
        )
    }

    private var isUnlocked: Bool { get throws { try daemon.connect().status().state == .unlocked } }

    @Test func `a wrong passcode is asked for again, and the right one unlocks the vault`() throws {
        try pinentry.answer(["wrong", DaemonProcess.passcode])
        let result = try unlock("--prompt")
        #expect(result.status == 0 && result.text == "unlocked\n", "\(result.errors)")
        #expect(try isUnlocked)
        #expect(pinentry.told("SETDESC") == ["The vault is locked.", "The vault is locked."])
        #expect(pinentry.told("SETERROR").first?.hasPrefix("Can't open the vault: wrong passcode") == true)
    }

    @Test func `it is 77 if the person cancels`() throws {
        try pinentry.answer(["cancel"])
        let result = try unlock("--prompt")
        #expect(result.status == 77 && result.text.isEmpty)
        #expect(result.errors == "error: nobody gave the passcode\n")
        #expect(try !isUnlocked)
    }

    @Test func `it is 69 if there is no pinentry`() throws {
        let result = try unlock("--prompt", with: ["PATH": "/nonexistent"])
        #expect(result.status == 69)
        #expect(result.errors.contains("'pinentry' can't be started"))
    }

    @Test(arguments: [["--passcode-fd", "0"], ["--recovery-key"], ["--recovery-key-fd", "0"]])
    func `it excludes a credential`(options: [String]) throws {
        let result = try daemon.coffer(["unlock", "--prompt"] + options)
        #expect(result.status == 64)
        #expect(result.errors.contains("--prompt and \(options[0]) can't be combined"))
    }

    @Test func `nobody is asked if the vault is unlocked`() throws {
        try daemon.connect().unlock()
        let result = try unlock("--prompt", "--json")
        #expect(result.status == 0 && result.text.contains("\"unlocked\""), "\(result.errors)")
        #expect(pinentry.count == 0)
    }

    @Test func `the question ends when the vault is unlocked in another way`() throws {
        try pinentry.answer([FakePinentry.waiting])
        let running = Background { try unlock("--prompt") }
        #expect(settles { pinentry.isShown })
        try daemon.connect().unlock()
        let result = try running.wait()
        #expect(result.status == 0 && result.text == "unlocked\n", "\(result.errors)")
        #expect(settles { pinentry.hasEnded })
    }

    @Test func `where there is no screen, the agents of systemd are asked`() throws {
        let folder = pinentry.directory.path
        let script = """
            #!/bin/sh
            printf '%s\\n' "$@" >>'\(folder)/arguments'
            cat '\(folder)/typed'
            """
        try pinentry.install(script, as: "systemd-ask-password")
        try pinentry.directory.write(Array("\(DaemonProcess.passcode)\n".utf8), to: "typed")
        let result = try unlock("--prompt", with: ["DISPLAY": ""])
        #expect(result.status == 0 && result.text == "unlocked\n", "\(result.errors)")
        #expect(pinentry.count == 0)
        let arguments = String(decoding: try #require(pinentry.directory.contents("arguments")), as: UTF8.self)
        let shown = "--no-tty\n--timeout=120\n--id=coffer\n--icon=dialog-password\n--\nThe vault is locked. Passcode:\n"
        #expect(arguments == shown)
    }

    @Test func `where there is no screen, and no agent gives the passcode, it is 77`() throws {
        try pinentry.install("#!/bin/sh\nexit 1\n", as: "systemd-ask-password")
        let result = try unlock("--prompt", with: ["DISPLAY": ""])
        #expect(result.status == 77, "\(result.errors)")
        #expect(pinentry.count == 0)
    }

    @Test func `on a terminal alone, pinentry-curses asks there, and leaves it as it was`() throws {
        let path = pinentry.directory.appending("bin/pinentry")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/usr/bin/pinentry-curses")
        let command = """
            PATH='\(pinentry.directory.appending("bin"))':$PATH TERM=xterm LC_ALL=C.UTF-8 coffer unlock --prompt && stty -a
            """
        let passcode = DaemonProcess.passcode
        let result = try onTerminal(daemon, command, [("Passcode:", .keys("\(passcode)\r"))])
        #expect(result.status == 0, "\(result.shown)")
        #expect(result.shown.contains("The vault is locked."))
        #expect(result.shown.contains("unlocked\r\n"))
        #expect(!result.shown.contains(passcode))
        #expect(result.shown.contains(" echo "))
        #expect(try isUnlocked)
    }
}
