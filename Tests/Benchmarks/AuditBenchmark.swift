import CofferCore
import CofferService
import CofferSystem
import CofferWire
import Foundation

/// What recording who did what costs a get: the same server, once with it and once without, in turns.
///
/// In this process, since no daemon can be told to record nothing; the client is another thread of it, as far away for both.
enum AuditBenchmark: Benchmark {
    static let name = "audit"
    private static let target = 0.1
    private static let itemCount = 1000

    static func run(_ setting: Setting) throws {
        let (rounds, gets) =
            switch setting.effort {
            case .check: (2, 50)
            case .quick: (40, 2000)
            case .full: (100, 5000)
            }
        tell("measuring gets with and without the audit (\(rounds) rounds of \(gets.grouped)) ...")
        let servers = [
            try RecordingServer(setting, records: false), try RecordingServer(setting, records: true),
        ]
        var samples = [Samples(), Samples()]
        try interleave(rounds: rounds, servers.count) { index, counts in
            let time = try servers[index].get(gets) / Double(gets)
            if counts { samples[index].add(time) }
        }
        let ratio = samples[1].ratios(to: samples[0]).median
        print("\nDoes the audit cost a get \(target.asPercent) at the most?\n")
        var table = Table(["item.get, one client", "median", "spread", "more", "target"])
        table.add(["without the audit", samples[0].median.asShortTime, samples[0].spread.asPercent])
        table.add([
            "with the audit", samples[1].median.asShortTime, samples[1].spread.asPercent, (ratio - 1).asPercent,
            ratio <= 1 + target ? "met" : "MISSED",
        ])
        table.printOut()
        print(
            "\nOf \(itemCount.grouped) items in their turn, each get from its sending to its answer; writing the records is in it."
        )
        for server in servers { server.stop() }
    }
}

/// A server on a thread of this process, with a vault of small secrets.
private final class RecordingServer {
    private let server: Server
    private let loop: EventLoop
    private let connection: BenchmarkConnection
    private let thread: Thread
    private let frames: [[UInt8]]
    private var next = 0

    init(_ setting: Setting, records: Bool) throws {
        let path = "\(setting.directory)/audit-\(records)"
        var configuration = Configuration(
            statePath: path,
            daemon: ClientIdentity(userID: geteuid(), groupID: getegid())
        )
        configuration.keepsAudit = records
        let loop = try EventLoop()
        let server = try Server(loop: loop, configuration: configuration)
        try server.assumeIsolated { server in
            try server.start()
            try server.serve(try UnixSocket.listen(at: path + ".socket"))
        }
        thread = Thread { loop.run() }
        thread.start()
        (self.loop, self.server) = (loop, server)
        connection = try BenchmarkConnection(to: path + ".socket")
        let names = (0..<(setting.effort == .check ? 10 : 1000)).map { "s/\($0)" }
        try connection.call("vault.init", ["noPasscode": true, "noRecoveryKey": true])
        for name in names { try connection.call("item.put", ["name": .string(name)], payload: Array("secret".utf8)) }
        frames = names.map { BenchmarkConnection.frame("item.get", ["name": .string($0)], []) }
    }

    /// Gets so many items, one after the other.
    ///
    /// - Returns: How long it took, in milliseconds.
    func get(_ count: Int) throws -> Double {
        try milliseconds {
            for _ in 0..<count {
                try connection.send(frames[next % frames.count])
                _ = try connection.answer()
                next += 1
            }
        }
    }

    func stop() {
        loop.post { [server] in server.assumeIsolated { $0.shutDown() } }
        while !thread.isFinished { usleep(1000) }
    }
}
