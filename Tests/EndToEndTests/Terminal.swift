import CofferTestSupport
import Foundation

/// What is done at a terminal when a prompt appears.
enum Answer: ExpressibleByStringLiteral {
    /// A line is typed, with its end.
    case line(String)
    /// Keys are struck, and no more.
    case keys(String)
    /// What runs in the foreground gets a signal.
    case signal(Int32)

    init(stringLiteral: String) { self = .line(stringLiteral) }

    fileprivate var words: [String] {
        switch self {
        case .line(let text): ["keys", text + "\n"]
        case .keys(let text): ["keys", text]
        case .signal(let number): ["signal", String(number)]
        }
    }
}

/// Runs a shell command on a terminal of its own and types lines as prompts appear.
///
/// - Parameters:
///   - command: The command.
///   - answers: What to wait for, and what to do then.
///   - home: The home directory, if the command is to have one.
/// - Returns: All that the terminal showed, echo included, and the exit code.
func onTerminal(
    _ daemon: DaemonProcess,
    _ command: String,
    _ answers: [(prompt: String, answer: Answer)] = [],
    home: String? = nil
) throws -> (shown: String, status: Int32) {
    let script = """
        import os, pty, signal, sys
        command, answers = sys.argv[1], sys.argv[2:]
        # As a shell at a terminal would be started: nothing is held back or ignored.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
            signal.signal(number, signal.SIG_DFL)
        pid, terminal = pty.fork()
        if pid == 0:
            # What a command leaves behind must hold nothing of the tests open.
            os.closerange(3, 65536)
            os.execv("/bin/bash", ["bash", "-c", command])
        shown, seen = b"", 0
        def stop(*_):
            # The time is over: what the terminal has shown says why.
            os.write(1, shown)
            os._exit(124)
        signal.signal(signal.SIGTERM, stop)
        while True:
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
            if answers and shown.find(answers[0].encode(), seen) >= 0:
                seen = len(shown)
                if answers[1] == "signal":
                    os.killpg(os.tcgetpgrp(terminal), int(answers[2]))
                else:
                    os.write(terminal, answers[2].encode())
                answers = answers[3:]
        sys.stdout.buffer.write(shown)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    let result = try runCommand(
        "/usr/bin/timeout",
        ["60", "python3", "-c", script, command] + answers.flatMap { [$0.prompt] + $0.answer.words },
        environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"]
            .merging(home.map { ["HOME": $0] } ?? [:]) { $1 },
        directory: daemon.directory.path
    )
    return (result.text, result.status)
}
