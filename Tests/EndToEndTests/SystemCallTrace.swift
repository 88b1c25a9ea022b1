import CofferClient
import CofferTestSupport
import Foundation

/// The system calls of a daemon that runs, as `strace` sees them.
final class SystemCallTrace {
    /// What one request costs the daemon.
    struct Cost: Equatable, CustomStringConvertible {
        /// Calls that wait for the disk.
        var syncs = 0
        /// Waits of the event loop.
        var turns = 0
        /// All calls, of all threads.
        var calls = 0

        /// Whether it is no more than another in any respect.
        func isWithin(_ other: Cost) -> Bool {
            syncs <= other.syncs && turns <= other.turns && calls <= other.calls
        }

        func least(_ other: Cost) -> Cost {
            Cost(
                syncs: min(syncs, other.syncs),
                turns: min(turns, other.turns),
                calls: min(calls, other.calls)
            )
        }

        var description: String { "\(syncs) syncs, \(turns) turns, \(calls) system calls" }
    }

    /// Whether this machine lets us trace: the daemon can't be traced by its own user.
    static let isPermitted = geteuid() == 0 && FileManager.default.isExecutableFile(atPath: tracer)

    private static let tracer = "/usr/bin/strace"
    private static let syncs: Set<Substring> = ["fsync", "fdatasync", "sync_file_range", "syncfs"]

    private let daemon: DaemonProcess
    private let process = Process()
    private let path: String
    /// The call that the event loop waits in: other sets of descriptors are only asked, without waiting.
    private var wait: Substring = ""

    /// Traces a daemon until this value goes.
    init(_ daemon: DaemonProcess) throws {
        self.daemon = daemon
        path = try daemon.directory.write([], to: "trace")
        process.executableURL = URL(filePath: Self.tracer)
        process.arguments = ["--follow-forks", "--quiet=all", "--output=\(path)", "--attach=\(daemon.processID)"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        // The first request that it sees may be cut.
        while try lines(from: 0).isEmpty {
            guard process.isRunning else { throw POSIXError(.EPERM) }
            _ = try daemon.connect().status()
        }
        try settle()
        let last = try lines(from: 0).last { $0.contains("epoll_wait(") }
        wait = last?.firstMatch(of: /epoll_wait\(\d+,\s/)?.0 ?? ""
    }

    deinit {
        guard process.isRunning else { return }
        // The threads of tests block other signals, and so does what they start. The kernel detaches the daemon.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// How often a request is made at most.
    let mostRepetitions = 45

    /// What a request costs: the least of several in each respect, because timers of the daemon come in between.
    ///
    /// On a busy machine the daemon's workers end between two requests, and wait for one another. While it costs more than it
    /// is said to, more follow.
    ///
    /// - Parameters:
    ///   - expected: What it is said to cost.
    ///   - request: Makes it, each time with another number.
    func cost(expecting expected: Cost?, _ request: (Int) throws -> Void) throws -> Cost {
        var least: Cost?
        for repetition in 0..<mostRepetitions {
            if repetition >= 9, let least, expected.map(least.isWithin) ?? true { break }
            try settle()
            let start = try size()
            try request(repetition)
            try settle()
            let lines = try lines(from: start)
            let cost = cost(of: lines)
            least = least?.least(cost) ?? cost
        }
        return least ?? Cost()
    }

    /// The wait that the request ends began before, and the one after it is traced in part: so each counts once.
    private func cost(of lines: [Substring]) -> Cost {
        let names = lines.compactMap { $0.firstMatch(of: /^\d+ +(\w+)\(/)?.1 }
        return Cost(
            syncs: names.count(where: Self.syncs.contains),
            turns: lines.count { $0.contains(wait) },
            calls: names.count
        )
    }

    /// Waits until every thread of the daemon sleeps, and the tracer has written what it saw.
    private func settle() throws {
        var quiet = 0
        var before = try size()
        while quiet < 5 {
            usleep(2_000)
            let now = try size()
            let isQuiet = try isAsleep() && now == before
            quiet = isQuiet ? quiet + 1 : 0
            before = now
        }
    }

    private func isAsleep() throws -> Bool {
        let tasks = "/proc/\(daemon.processID)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
            // A thread may end meanwhile: the next look is another one.
            let status = (try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)) ?? ""
            return status.split(separator: ")").last?.split(separator: " ").first == "S"
        }
    }

    private func size() throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    private func lines(from offset: Int) throws -> [Substring] {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        try file.seek(toOffset: UInt64(offset))
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").filter { !$0.contains(" resumed>") }
    }
}
