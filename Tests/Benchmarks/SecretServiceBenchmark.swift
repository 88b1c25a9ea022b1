import CofferCore
import CofferWire
import Foundation

/// Looking up and storing through libsecret: `coffer-secret-service` beside gnome-keyring, and at a hundred, ten thousand
/// and a hundred thousand items; and its memory.
enum SecretServiceBenchmark: Benchmark {
    static let name = "secret-service"

    static func run(_ setting: Setting) throws {
        guard PrivateBus.isInstalled else { return print("libsecret or dbus-daemon is not installed: skipped") }
        let plan = Plan(setting.effort)
        var contests: [Contest] = []
        for items in plan.sizes {
            tell("making Secret Services of \(items.grouped) items ...")
            let hasKeyring = GnomeKeyring.isInstalled && items <= plan.mostKeyringItems
            contests.append(
                Contest(
                    ours: try CofferSecretService(setting, items: items),
                    keyring: hasKeyring ? try GnomeKeyring(setting, "keyring-\(items)", items: items) : nil
                )
            )
        }
        tell("measuring (\(plan.rounds) rounds) ...")
        try interleave(rounds: plan.rounds, 2 * contests.count) { place, counts in
            try contests[place / 2].measure(place % 2 == 0 ? .coffer : .keyring, plan, counts)
        }
        printTimes(contests)
        try printMemory(contests)
        for contest in contests { contest.ours.stop() }
    }

    private static func printTimes(_ contests: [Contest]) {
        print("How long do programs that use libsecret wait?\n")
        var table = Table(["operation", "items", "latency", "spread", "to the fewest", "gnome-keyring", "rate to it"])
        for operation in Contest.Operation.allCases {
            for contest in contests {
                let items = contest.ours.items
                let what = "secret service: \(operation.rawValue)"
                guard let ours = contest.times[.coffer]?[operation] else { continue }
                let fewest = contests[0].times[.coffer]?[operation] ?? ours
                let growth = ours.ratios(to: fewest)
                Figures.keep("\(what) latency", items: items, clients: 1, .time(ours))
                Figures.keep("\(what) latency to that at the fewest items", items: items, .ratio(growth))
                var cells = [ours.median.asTime, ours.spread.asPercent, growth.median.formatted(2), "", ""]
                if let theirs = contest.times[.keyring]?[operation] {
                    let ratio = theirs.ratios(to: ours)
                    Figures.keep("\(what) latency", of: .keyring, items: items, clients: 1, .time(theirs))
                    Figures.keep("\(what) rate to gnome-keyring", items: items, clients: 1, .ratio(ratio))
                    (cells[3], cells[4]) = (theirs.median.asTime, ratio.median.formatted(1))
                }
                table.add([operation.rawValue, items.grouped] + cells)
            }
        }
        table.printOut()
        print(
            """

            One client each, on a bus of its own. Ours syncs each store. The keyring of the other one is a file without a \
            password, which a store writes anew.
            """
        )
    }

    private static func printMemory(_ contests: [Contest]) throws {
        print("\nHow much memory does coffer-secret-service take?\n")
        var table = Table(["items", "after the measurement", "started, after one look-up"])
        for contest in contests {
            let busy = try contest.ours.memory().resident
            let idle = try contest.ours.memoryAfterRestart().resident
            Figures.keep("secret service: memory", items: contest.ours.items, .kibibytes(idle))
            table.add([contest.ours.items.grouped, busy.asMebibytes, idle.asMebibytes])
        }
        table.printOut()
    }

    /// The amounts of a run.
    struct Plan {
        let sizes: [Int]
        /// A look-up of gnome-keyring goes over all items.
        let mostKeyringItems = 10_000
        let rounds: Int
        /// The look-ups and the stores in a round.
        let lookUps: Int
        let stores: Int

        init(_ effort: Effort) {
            switch effort {
            case .check: (sizes, rounds, lookUps, stores) = ([20, 40], 1, 10, 2)
            case .quick: (sizes, rounds, lookUps, stores) = ([100, 10_000], 5, 100, 5)
            case .full: (sizes, rounds, lookUps, stores) = ([100, 10_000, 100_000], 11, 200, 10)
            }
        }
    }

    /// Two services with the same items, and what was measured of them: the median of each round, in milliseconds.
    struct Contest {
        enum Operation: String, CaseIterable {
            case lookUp = "look-up"
            case store
        }

        let ours: CofferSecretService
        let keyring: GnomeKeyring?
        private(set) var times: [Figure.Side: [Operation: Samples]] = [:]

        init(ours: CofferSecretService, keyring: GnomeKeyring?) { (self.ours, self.keyring) = (ours, keyring) }

        /// Measures a round of one side; what is stored is removed again, so that the size is constant.
        mutating func measure(_ side: Figure.Side, _ plan: Plan, _ counts: Bool) throws {
            guard let client = side == .coffer ? ours.client : keyring?.client else { return }
            let items = ours.items
            let taken: [Operation: Samples] = [
                .lookUp: try client.lookUp(plan.lookUps, among: items, seed: .random(in: 1...1_000_000)),
                .store: try client.store(items..<items + plan.stores),
            ]
            _ = try client.clear(items..<items + plan.stores)
            guard counts else { return }
            for (operation, samples) in taken {
                times[side, default: [:]][operation, default: Samples()].add(samples.median)
            }
        }
    }
}

/// Our service on its own bus, of a vault of its own.
final class CofferSecretService {
    let items: Int
    private(set) var client: LibsecretClient
    private let bus: PrivateBus
    private let daemon: BenchmarkDaemon
    private let path: String
    private var process: Process

    /// Makes a vault with items as libsecret stores them, and starts the service.
    init(_ setting: Setting, items: Int) throws {
        self.items = items
        daemon = try BenchmarkDaemon(setting, "secret-service-\(items)")
        try daemon.connect().call("vault.init", ["kdf": "interactive"], payload: BenchmarkDaemon.passcode)
        _ = try Self.put
            .run(at: daemon.socketPath, clients: min(items, 2000), .ascending(from: 0), until: .requests(items))
        bus = try PrivateBus("\(setting.directory)/secret-service-bus-\(items)")
        let programs = URL(filePath: setting.daemonPath).deletingLastPathComponent()
        path = programs.appending(path: "coffer-secret-service").path
        process = try Self.start(path, daemon, bus)
        client = try LibsecretClient(on: bus)
    }

    private static let put = LoadRequest(
        "item.put",
        [
            "name": .string(LoadRequest.account), "group": "collection:login", "kind": "password", "store": "keychain",
            "accessible": "WhenUnlocked", "attributes": ["label": .string(LoadRequest.account)],
            "user": [
                "service": .string(LoadRequest.service), "account": .string(LoadRequest.account),
                "xdg:schema": "org.example.Benchmark",
            ],
        ],
        payload: KeychainOperation.secret
    )

    private static func start(_ path: String, _ daemon: BenchmarkDaemon, _ bus: PrivateBus) throws -> Process {
        let process = Process()
        try process.start([path, "--socket", daemon.socketPath], bus.environment)
        return process
    }

    func memory() throws -> Memory { try Memory(of: process.processIdentifier) }

    /// The memory of a service that has just been started, and has looked up one item.
    func memoryAfterRestart() throws -> Memory {
        process.stop()
        process = try Self.start(path, daemon, bus)
        client = try LibsecretClient(on: bus)
        _ = try client.lookUp(1, among: items, seed: 1)
        return try memory()
    }

    func stop() {
        process.stop()
        daemon.stop()
    }
}
