import CBenchmarks
import CofferCore
import Foundation

/// Getting, adding, changing, deleting and searching, at a hundred, ten thousand and a million items.
///
/// One client and many clients are measured, and compared with daemons in C and with gnome-keyring.
enum KeychainBenchmark: Benchmark {
    static let name = "keychain"

    static func run(_ setting: Setting) throws {
        let plan = KeychainPlan(setting.effort)
        let stores = try plan.sizes.map { try KeychainStores(setting, items: $0) }
        var results = KeychainResults(plan)
        results.fillingTimes = stores.map(\.fillingTime)

        try checkFloors(stores)
        try measureRequests(stores, plan, &results)
        try measureSearches(stores, plan, &results)
        try measureMemory(stores, &results)
        results.printReadings()
        results.printChanges()
        results.printCommits()
        results.printSearches()
        results.printMemory()
        try compareWithKeyring(setting, stores[0], plan)
        for store in stores { store.stop() }
    }

    /// Checks that the floor that does equal work stores what it is given, and writes as much as Coffer for it.
    private static func checkFloors(_ stores: [KeychainStores]) throws {
        print("Does the C daemon do the same work?\n")
        var table = Table(["items", "pages of the log a put writes", "in C"])
        for store in stores {
            try store.checkFloorAnswers()
            let (ours, theirs) = (try store.pagesOfPut(.coffer), try store.pagesOfPut(.equal))
            guard abs(ours - theirs) <= 1 else {
                throw CofferError(
                    .internal,
                    "a put writes \(ours) pages, and \(theirs) in the floor: it does not do the same work"
                )
            }
            Figures.keep("item.put pages of the log", items: store.items, .plainRatio(Double(ours)))
            table.add([store.items.grouped, ours.grouped, theirs.grouped])
        }
        table.printOut()
        print("\nA value that was put into it came back by item.get and keychain.find.\n")
    }

    private static func measureRequests(
        _ stores: [KeychainStores],
        _ plan: KeychainPlan,
        _ results: inout KeychainResults
    ) throws {
        tell("measuring (\(plan.rounds) rounds) ...")
        for round in 0...plan.rounds {
            for place in stores.indices {
                let index = (place + round) % stores.count
                for clients in plan.clients {
                    let contest = Contest(stores[index], clients, plan, round)
                    let measured = try contest.measure()
                    if round > 0 { results.add(measured, size: index, clients: clients) }
                }
            }
        }
    }

    private static func measureSearches(
        _ stores: [KeychainStores],
        _ plan: KeychainPlan,
        _ results: inout KeychainResults
    ) throws {
        tell("looking through all items (\(plan.searchRounds) rounds) ...")
        // Ten items match at every size.
        let part = "user-000001"
        try interleave(rounds: plan.searchRounds, stores.count) { index, counts in
            for (search, value) in [(KeychainSearch.prefix, part), (.contains, String(part.dropFirst(3)))] {
                let taken = try stores[index].lookThrough((search.rawValue, value), expecting: 10)
                if counts { results.add(taken, search, size: index) }
            }
        }
    }

    private static func measureMemory(_ stores: [KeychainStores], _ results: inout KeychainResults) throws {
        for store in stores {
            let loaded = try store.daemon.memory()
            try store.restart()
            let started = try store.daemon.memory()
            try store.daemon.connect().call("vault.unlock", payload: BenchmarkDaemon.passcode)
            let once = try store.run(.find, .coffer, clients: 1, .ascending(from: 0), until: .requests(1))
            guard once.answerCount == 1 else { throw CofferError(.internal, "an item is gone after a restart") }
            results.memories.append((started, try store.daemon.memory(), loaded))
        }
    }
}

/// The amounts of a run.
struct KeychainPlan {
    let sizes: [Int]
    let clients: [Int]
    let rounds: Int
    let searchRounds: Int
    /// The time in which the clients of a round repeat one operation.
    let sliceMilliseconds: Double
    /// The sizes of gnome-keyring, where each stored item costs more than the one before.
    let keyringSizes: [Int]
    /// The number of lookups in a round; a tenth of them are changes.
    let keyringLookUps: Int

    init(_ effort: Effort) {
        switch effort {
        case .check:
            (sizes, clients, rounds, searchRounds, sliceMilliseconds) = ([20, 40], [1, 8], 1, 1, 5)
            (keyringSizes, keyringLookUps) = ([20], 20)
        case .quick:
            (sizes, clients, rounds, searchRounds, sliceMilliseconds) = ([100, 10_000], [1, 8, 64], 7, 5, 200)
            (keyringSizes, keyringLookUps) = ([100], 200)
        case .full:
            (sizes, clients, rounds, searchRounds, sliceMilliseconds) = (
                [100, 10_000, 1_000_000], [1, 8, 64], 7, 3, 200
            )
            (keyringSizes, keyringLookUps) = ([100, 1000], 200)
        }
    }
}

/// A search that scans every item.
enum KeychainSearch: String, CaseIterable {
    case prefix
    case contains
}

/// The measurements of one operation.
struct KeychainMeasurement {
    let operation: KeychainOperation
    let side: KeychainSide
    let outcome: LoadRequest.Outcome
}

/// One round at one size, with one number of clients.
private struct Contest {
    private let stores: KeychainStores
    private let clients: Int
    private let plan: KeychainPlan
    private let round: Int

    init(_ stores: KeychainStores, _ clients: Int, _ plan: KeychainPlan, _ round: Int) {
        self.stores = stores
        self.clients = clients
        self.plan = plan
        self.round = round
    }

    func measure() throws -> (operations: [KeychainMeasurement], bareCommit: Double?) {
        var measured: [KeychainMeasurement] = []
        func run(
            _ operation: KeychainOperation,
            _ side: KeychainSide,
            _ order: LoadRequest.Order,
            until end: LoadRequest.End
        ) throws {
            let outcome = try stores.run(operation, side, clients: clients, order, until: end)
            measured.append(KeychainMeasurement(operation: operation, side: side, outcome: outcome))
        }
        // The order rotates, because of effects that depend on it.
        let first = round % KeychainSide.allCases.count
        let sides = KeychainSide.allCases[first...] + KeychainSide.allCases[..<first]
        let slice = LoadRequest.End.milliseconds(plan.sliceMilliseconds)
        let anywhere = LoadRequest.Order.random(among: stores.items, seed: round + 1)
        for operation in KeychainOperation.readings + [.update, .put] {
            for side in sides where operation.counterpart(side) == operation {
                try run(operation, side, anywhere, until: slice)
            }
        }
        // Added items are deleted again, so that the size is constant.
        let behind = LoadRequest.Order.ascending(from: stores.items)
        for side in sides { try run(.add, side, behind, until: slice) }
        let added = measured.suffix(sides.count)
        var bareCommit: Double?
        if clients == 1, let count = added.first(where: { $0.side == .coffer })?.outcome.answerCount {
            bareCommit = try stores.bareCommits(count)
        }
        for addition in added {
            try run(.delete, addition.side, behind, until: .requests(addition.outcome.answerCount))
        }
        return (measured, bareCommit)
    }
}
