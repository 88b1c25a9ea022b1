import CofferTestSupport
import Foundation

/// Runs a shell command on a terminal of its own and types lines as prompts appear.
///
/// - Parameters:
///   - command: The command.
///   - answers: What to wait for, and what to type then.
/// - Returns: All that the terminal showed, echo included, and the exit code.
func onTerminal(
    _ daemon: DaemonProcess,
    _ command: String,
    _ answers: [(prompt: String, line: String)] = []
) throws -> (shown: String, status: Int32) {
    let script = """
        import os, pty, sys
        command, answers = sys.argv[1], sys.argv[2:]
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv("/bin/bash", ["bash", "-c", command])
        shown, seen = b"", 0
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
                os.write(terminal, answers[1].encode() + b"\\n")
                answers = answers[2:]
        sys.stdout.buffer.write(shown)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """
    let result = try runCommand(
        "/usr/bin/timeout",
        ["60", "python3", "-c", script, command] + answers.flatMap { [$0.prompt, $0.line] },
        environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
        directory: daemon.directory.path
    )
    return (result.text, result.status)
}
