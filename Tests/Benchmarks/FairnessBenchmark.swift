import CBenchmarks
import CofferCore
import CofferWire
import Foundation

/// The latency of a client while another user's clients are busy, compared with its latency alone.
enum FairnessBenchmark: Benchmark {
    static let name = "fairness"
    /// The argument that makes this program a set of busy clients, under its own user.
    static let busyName = "busy"

    private static let busyClients = 64
    /// The user `nobody`, which exists on every machine.
    private static let busyUserID: UInt32 = 65534

    private static let quietOperations: [KeychainOperation] = [.get, .update]
    private static let busyOperations: [KeychainOperation] = [.get, .search, .update]

    static func run(_ setting: Setting) throws {
        guard geteuid() == 0 else {
            throw CofferError(.notAvailable, "two users are needed, whom only root can be", hint: "run it as root")
        }
        let (items, rounds, slice) = setting.effort == .check ? (40, 1, 5.0) : (10_000, 7, 300.0)
        let store = try store(setting, items: items)
        defer { store.daemon.stop() }
        var waits: [Case: Waits] = [:]
        tell("measuring (\(rounds) rounds) ...")
        for quiet in quietOperations {
            try interleave(rounds: rounds, busyOperations.count) { index, counts in
                let one = Case(quiet: quiet, busy: busyOperations[index])
                let alone = try store.wait(quiet, milliseconds: slice)
                let beside = try store.beside(one.busy, clients: busyClients) {
                    try store.wait(quiet, milliseconds: slice)
                }
                if counts { waits[one, default: Waits()].add(alone, beside) }
            }
        }
        printOut(waits)
    }

    /// Runs the clients that ``Store/beside(_:clients:_:)`` starts, until they are stopped.
    static func serveBusily(_ words: [String]) throws {
        guard words.count == 4, let operation = KeychainOperation(rawValue: words[1]), let items = Int(words[2]),
            let clients = Int(words[3])
        else { throw CofferError(.param, "expected a socket, an operation, items and clients") }
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        _ = try operation.request
            .run(at: words[0], clients: clients, .random(among: items, seed: 99), until: .milliseconds(3_600_000))
    }

    private static func store(_ setting: Setting, items: Int) throws -> Store {
        let entitlements = "\(setting.directory)/entitlements"
        try FileManager.default.createDirectory(atPath: entitlements, withIntermediateDirectories: true)
        let text = "[Client]\nUID=\(busyUserID)\nGroups=default\nVerbs=read write\n"
        try Data(text.utf8).write(to: URL(filePath: "\(entitlements)/busy.conf"))
        let daemon = try BenchmarkDaemon(setting, "fairness", options: ["--entitlements", entitlements])
        // The other user needs access.
        unsafe chmod(setting.directory, 0o711)
        unsafe chmod(daemon.socketPath, 0o666)
        try daemon.connect().call("vault.init", ["kdf": "interactive"], payload: BenchmarkDaemon.passcode)
        _ = try KeychainOperation.add.request
            .run(at: daemon.socketPath, clients: min(items, 64), .ascending(from: 0), until: .requests(items))
        return Store(daemon: daemon, items: items)
    }

    private struct Store {
        let daemon: BenchmarkDaemon
        let items: Int

        func wait(_ operation: KeychainOperation, milliseconds: Double) throws -> LoadRequest.Outcome {
            try operation.request
                .run(
                    at: daemon.socketPath,
                    clients: 1,
                    .random(among: items, seed: 7),
                    until: .milliseconds(milliseconds)
                )
        }

        /// Calls a closure while another user's clients send requests without a pause.
        func beside<Value>(_ operation: KeychainOperation, clients: Int, _ body: () throws -> Value) throws -> Value {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(filePath: "/usr/bin/env")
            let ourselves = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            process.arguments =
                ["setpriv", "--reuid=\(busyUserID)", "--regid=\(busyUserID)", "--clear-groups", "--pdeathsig=KILL"]
                + [ourselves, busyName, daemon.socketPath, operation.rawValue, "\(items)", "\(clients)"]
            process.standardOutput = output
            try process.run()
            defer {
                process.terminate()
                process.waitUntilExit()
            }
            guard output.fileHandleForReading.availableData.count > 0 else {
                throw CofferError(.internal, "the busy clients did not begin")
            }
            // After this time, all clients are connected and busy.
            usleep(100_000)
            let value = try body()
            guard process.isRunning else { throw CofferError(.internal, "the busy clients have ended") }
            return value
        }
    }

    private struct Case: Hashable {
        let quiet: KeychainOperation
        let busy: KeychainOperation
    }

    private struct Waits {
        var alone = Samples()
        var beside = Samples()
        var lateAlone = Samples()
        var lateBeside = Samples()

        mutating func add(_ alone: LoadRequest.Outcome, _ beside: LoadRequest.Outcome) {
            self.alone.add(alone.medianLatency)
            self.beside.add(beside.medianLatency)
            lateAlone.add(alone.lateLatency)
            lateBeside.add(beside.lateLatency)
        }
    }

    private static func printOut(_ waits: [Case: Waits]) {
        print("Does one client wait for \(busyClients) busy ones of another user?\n")
        var table = Table(["asks for", "they ask for", "alone", "beside them", "ratio", "19 of 20", "ratio"])
        for quiet in quietOperations {
            for busy in busyOperations {
                guard let one = waits[Case(quiet: quiet, busy: busy)] else { continue }
                let ratio = one.beside.median / one.alone.median
                let what = "\(quiet.rawValue) beside \(busy.rawValue)"
                Figures.keep(what, .time(one.beside))
                Figures.keep("\(what) to alone", .plainRatio(ratio))
                table.add([
                    quiet.rawValue,
                    busy.rawValue,
                    one.alone.median.asShortTime,
                    one.beside.median.asShortTime,
                    ratio.formatted(1),
                    one.lateBeside.median.asShortTime,
                    (one.lateBeside.median / one.lateAlone.median).formatted(1),
                ])
            }
        }
        table.printOut()
        print(
            """

            The first ratio is of medians. 19 of 20 answers came no later than what stands there; the ratio is to the same
            without the others. All clients and the daemon share the cores of the machine.
            """
        )
    }
}
