import CofferCore
import Foundation

extension KeychainBenchmark {
    /// Compares with gnome-keyring through libsecret, if both are installed.
    static func compareWithKeyring(_ setting: Setting, _ stores: KeychainStores, _ plan: KeychainPlan) throws {
        print("\nHow far from gnome-keyring?\n")
        guard GnomeKeyring.isInstalled else {
            return print("gnome-keyring, libsecret or dbus-daemon is not installed: skipped")
        }
        let keyring = try GnomeKeyring(setting, "keyring")
        var table = Table([
            "operation", "its items", "rate to it", "spread", "latency", "gnome-keyring", "rate", "gnome-keyring",
        ])
        for items in plan.keyringSizes {
            tell("filling gnome-keyring up to \(items.grouped) items ...")
            try keyring.fill(to: items)
            var contest = KeyringContest(keyring, stores, plan)
            for round in 0...plan.rounds { try contest.measure(round) }
            for operation in KeyringContest.operations {
                table.add([operation.rawValue, items.grouped] + contest.cells(of: operation))
            }
        }
        table.printOut()
        print(
            """

            One client each; ours is a keychain of \(stores.items.grouped) items, and C on our side, libsecret on the \
            other. Answers a second.
            """
        )
    }
}

/// The operations that both sides support.
private struct KeyringContest {
    static let operations: [KeychainOperation] = [.find, .add, .delete]

    private let keyring: GnomeKeyring
    private let stores: KeychainStores
    private let plan: KeychainPlan
    private var ours: [KeychainOperation: (latencies: Samples, rates: Samples)] = [:]
    private var theirs: [KeychainOperation: (latencies: Samples, rates: Samples)] = [:]

    init(_ keyring: GnomeKeyring, _ stores: KeychainStores, _ plan: KeychainPlan) {
        self.keyring = keyring
        self.stores = stores
        self.plan = plan
    }

    mutating func measure(_ round: Int) throws {
        let lookUps = plan.keyringLookUps
        let changes = lookUps / 10
        let behind = LoadRequest.Order.ascending(from: stores.items)
        for operation in Self.operations {
            let isFind = operation == .find
            let outcome = try stores.run(
                operation,
                .coffer,
                clients: 1,
                isFind ? .random(among: stores.items, seed: round + 1) : behind,
                until: .requests(isFind ? 10 * lookUps : changes)
            )
            let others = keyring.items..<(keyring.items + changes)
            let samples =
                switch operation {
                case .add: try keyring.client.store(others)
                case .delete: try keyring.client.clear(others)
                default: try keyring.client.lookUp(lookUps, among: keyring.items, seed: round + 1)
                }
            guard round > 0 else { continue }
            ours[operation, default: (Samples(), Samples())].latencies.add(outcome.medianLatency)
            ours[operation]?.rates.add(outcome.answersPerSecond)
            theirs[operation, default: (Samples(), Samples())].latencies.add(samples.median)
            theirs[operation]?.rates.add(1000 / samples.mean)
        }
    }

    func cells(of operation: KeychainOperation) -> [String] {
        guard let ours = ours[operation], let theirs = theirs[operation] else { return [] }
        let ratio = ours.rates.ratios(to: theirs.rates)
        let name = operation.rawValue
        Figures.keep("\(name) rate to gnome-keyring", items: keyring.items, clients: 1, .ratio(ratio))
        Figures.keep("\(name) latency", of: .keyring, items: keyring.items, clients: 1, .time(theirs.latencies))
        Figures.keep("\(name) rate", of: .keyring, items: keyring.items, clients: 1, .rate(theirs.rates))
        return [
            ratio.median.formatted(1), ratio.spread.asPercent,
            ours.latencies.median.asShortTime, theirs.latencies.median.asShortTime,
            Int(ours.rates.median).grouped, Int(theirs.rates.median).grouped,
        ]
    }
}
