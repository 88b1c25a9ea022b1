import CofferCore
import CofferService
import CofferSystem
import CofferWire
import Foundation

/// The cost of the audit for a get: the same server with and without it, in turns.
///
/// The server is in this process, because a daemon can't disable its audit; the client is another thread.
enum AuditBenchmark: Benchmark {
    static let name = "audit"
    private static let itemCount = 1000

    static func run(_ setting: Setting) throws {
        let (rounds, gets) =
            switch setting.effort {
            case .check: (2, 50)
            case .quick: (40, 4000)
            case .full: (200, 4000)
            }
        tell("measuring gets with and without the audit (\(rounds) rounds of \(gets.grouped)) ...")
        let server = try RecordingServer(setting)
        var (times, work) = ([Samples(), Samples()], [Samples(), Samples()])
        try interleave(rounds: rounds, 2) { index, counts in
            server.keepAudit(index == 1)
            let before = processorTime()
            let time = try server.get(gets) / Double(gets)
            guard counts else { return }
            times[index].add(time)
            work[index].add((processorTime() - before) / Double(gets))
        }
        print("\nHow much of a get does the audit cost?\n")
        var table = Table(["item.get, one client", "without the audit", "spread", "with it", "spread", "more"])
        for (name, samples) in [("time", times), ("processor's time, client and server", work)] {
            let ratio = samples[1].ratios(to: samples[0]).median
            let quantity = name == "time" ? "time" : "processor time"
            Figures.keep("audit's part of the \(quantity)", .plainRatio(ratio - 1))
            Figures.keep("item.get \(quantity) without the audit", .time(samples[0]))
            Figures.keep("item.get \(quantity) with the audit", .time(samples[1]))
            table.add(
                [name] + samples.flatMap { [$0.median.asShortTime, $0.spread.asPercent] }
                    + [(ratio - 1).asPercent]
            )
        }
        table.printOut()
        print("\nOf \(itemCount.grouped) items in their turn; writing the records is in it.")
        server.stop()
    }
}

/// A server on a thread of this process, with a vault of small secrets.
private final class RecordingServer {
    private let instructions: Mailbox<@Sendable (Server) -> Void>
    private let connection: BenchmarkConnection
    private let thread: Thread
    private let frames: [[UInt8]]
    private var next = 0

    init(_ setting: Setting) throws {
        let path = "\(setting.directory)/audit"
        let configuration = Configuration(
            statePath: path,
            daemon: ClientIdentity(userID: geteuid(), groupID: getegid())
        )
        let instructions = try Mailbox<@Sendable (Server) -> Void>()
        let isUp = DispatchSemaphore(value: 0)
        thread = Thread {
            do {
                let loop = try EventLoop()
                let server = try Server(loop: loop, configuration: configuration)
                try instructions.deliver(on: loop) { [unowned server] in $0(server) }
                server.start()
                try server.serve(try UnixSocket.listen(at: path + ".socket"))
                isUp.signal()
                server.run()
            } catch {
                fatalError("the server does not come up: \(error)")
            }
        }
        thread.start()
        isUp.wait()
        self.instructions = instructions
        connection = try BenchmarkConnection(to: path + ".socket")
        let names = (0..<(setting.effort == .check ? 10 : 1000)).map { "s/\($0)" }
        try connection.call("vault.init", ["noPasscode": true, "noRecoveryKey": true])
        for name in names { try connection.call("item.put", ["name": .string(name)], payload: Array("secret".utf8)) }
        frames = names.map { BenchmarkConnection.frame("item.get", ["name": .string($0)], []) }
    }

    /// Enables or disables the audit.
    func keepAudit(_ keepsAudit: Bool) {
        instructions.post { $0.keepsAudit = keepsAudit }
    }

    /// Gets items one after another, and includes the time until the audit is written.
    ///
    /// - Returns: The time in milliseconds.
    func get(_ count: Int) throws -> Double {
        try milliseconds {
            for _ in 0..<count {
                try connection.send(frames[next % frames.count])
                _ = try connection.answer()
                next += 1
            }
            try connection.call("audit.list", ["limit": 1])
        }
    }

    func stop() {
        instructions.post { $0.shutDown() }
        while !thread.isFinished { usleep(1000) }
    }
}

/// The processor time of this process in milliseconds.
private func processorTime() -> Double {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}
