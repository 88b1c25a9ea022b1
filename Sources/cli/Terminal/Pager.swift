internal import ArgumentParser
internal import CofferClient
internal import CofferProcesses
internal import CofferSystem
internal import Glibc
internal import Synchronization

/// The option of a verb whose output may be long.
package struct PagerOptions: ParsableArguments {
    @Flag(help: "Do not show long output by a pager.")
    var noPager = false

    /// Has a pager show all further output, if that goes to a terminal, and is for a person.
    package func begin(_ format: FormatOptions) {
        if !noPager && !format.json { Pager.begin() }
    }
}

/// The program that shows long output on a terminal page by page, as with git.
///
/// `$COFFER_PAGER`, otherwise `$PAGER`, otherwise `less`, which ends by itself where a page is enough.
package enum Pager {
    private struct Running: ~Copyable {
        let process: ChildProcess
        /// Of the terminal, which standard output is no more.
        let columnCount: Int?
    }

    private static let running = Mutex<Running?>(nil)

    /// Whether what goes to standard output comes to a terminal by a pager.
    static var isRunning: Bool { running.withLock { $0 != nil } }

    /// The columns of the terminal behind it.
    static var columnCount: Int? { running.withLock { $0?.columnCount } }

    fileprivate static func begin() {
        guard Output.standardOutput.isTerminal, !isRunning, let command = command else { return }
        let columnCount = terminalColumnCount(of: STDOUT_FILENO)
        // It shows what it is given, stays on the screen, and passes colours on.
        unsafe setenv("LESS", "FRX", 0)
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        let reading = OwnedDescriptor(owning: ends[0])
        let writing = OwnedDescriptor(owning: ends[1])
        // Without it, the output is only longer than the screen.
        guard let process = try? ChildProcess("/bin/sh", ["-c", command], input: reading.number) else { return }
        dup2(writing.number, STDOUT_FILENO)
        running.withLock { $0 = Running(process: process, columnCount: columnCount) }
    }

    private static var command: String? {
        for name in ["COFFER_PAGER", "PAGER"] {
            // An empty one says that there is to be none.
            guard let value = unsafe getenv(name) else { continue }
            let text = unsafe String(cString: value)
            return text.isEmpty || text == "cat" ? nil : text
        }
        return environment("TERM").map { $0 != "dumb" } ?? false ? Program.path("less") : nil
    }

    /// Waits until the person has read everything, before the program ends.
    ///
    /// - Returns: Whether there was a pager.
    @discardableResult package static func finish() -> Bool {
        guard let pager = running.withLock({ $0.take() }) else { return false }
        // A key that interrupts is for the pager.
        signal(SIGINT, SIG_IGN)
        signal(SIGQUIT, SIG_IGN)
        close(STDOUT_FILENO)
        _ = try? pager.process.wait()
        return true
    }
}
