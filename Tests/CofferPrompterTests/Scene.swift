import CofferClient
import CofferCore
import CofferPrompter
import CofferSystem
import CofferTestSupport
import Foundation

/// A prompter on a loop that a test turns by hand.
final class Scene {
    let directory: TemporaryDirectory
    let loop: EventLoop
    let terminal: FakeTerminal
    private(set) var prompter: Prompter?

    /// - Parameter script: What a shell does as the pinentry; `nil` for that of the terminal.
    init(_ script: String? = nil) throws {
        signal(SIGPIPE, SIG_IGN)
        directory = try TemporaryDirectory()
        loop = try EventLoop()
        terminal = try FakeTerminal()
        var program = "pinentry-curses"
        if let script {
            program = directory.appending("pinentry")
            let text = "#!/bin/sh\ncd '\(directory.path)'\n\(script)\n"
            let path = try directory.write(Array(text.utf8), to: "script")
            // A program that this process had written could still be open in what another test starts, and not be executed.
            let copied = try runCommand("/usr/bin/install", ["--mode=700", path, program])
            guard copied.status == 0 else { throw POSIXError(.EIO) }
        }
        let variables = ["GPG_TTY": terminal.name, "TERM": "xterm", "LC_ALL": "C.UTF-8"]
        prompter = try Prompter(on: loop, program: program) { variables[$0] }
    }

    /// Releases the prompter, with all that it has started.
    func endPrompter() { prompter = nil }

    /// Turns the loop until a condition holds.
    func settles(_ condition: () -> Bool) -> Bool {
        CofferTestSupport.settles {
            loop.poll(milliseconds: 0)
            loop.dispatch()
            terminal.look()
            return condition()
        }
    }

    /// The lines of a file of the script.
    func lines(_ name: String) -> [String] {
        String(decoding: directory.contents(name) ?? [], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Whether the process that has written its number has ended, and was reaped.
    func hasEnded(_ name: String) -> Bool {
        guard let number = lines(name).last.flatMap({ pid_t($0) }) else { return false }
        return kill(number, 0) == -1
    }
}

/// A terminal that a test watches and types on.
final class FakeTerminal {
    let name: String
    private(set) var shown = ""
    private let screen: Int32
    /// While it is open, the terminal does not hang up.
    private let keyboard: Int32

    init() throws {
        screen = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var (locked, number): (Int32, Int32) = (0, 0)
        // TIOCSPTLCK and TIOCGPTN, which Swift does not see.
        guard screen >= 0, ioctl(screen, 0x4004_5431, &locked) == 0, ioctl(screen, 0x8004_5430, &number) == 0 else {
            throw POSIXError(.ENOTTY)
        }
        name = "/dev/pts/\(number)"
        keyboard = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard keyboard >= 0 else { throw POSIXError(.ENOTTY) }
    }

    deinit {
        close(keyboard)
        close(screen)
    }

    /// Takes note of what is shown.
    func look() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(screen, &buffer, buffer.count), count > 0 {
            shown += String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    func type(_ keys: String) { _ = write(screen, keys, keys.utf8.count) }

    /// Whether it shows what is typed, as it does when no program has taken it.
    var hasEcho: Bool {
        var settings = termios()
        return tcgetattr(keyboard, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }
}

/// A reply, to compare.
func words(_ reply: Reply) -> String {
    switch reply {
    case .secret(let passcode): "passcode \(passcode.exposeText() ?? "")"
    case .confirmed: "confirmed"
    case .refused: "refused"
    case .failed(let error): error.message
    }
}

/// An outcome, to compare.
func words(_ outcome: UnlockOutcome) -> String {
    switch outcome {
    case .unlocked: "unlocked"
    case .refused: "refused"
    case .failed(let error): error.message
    }
}

/// A question that names its asker.
let question = Question.unlock(for: "/usr/bin/mail", reason: "new mail")
