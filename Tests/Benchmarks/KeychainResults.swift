/// The measurements, and their output.
struct KeychainResults {
    private struct Key: Hashable {
        let operation: KeychainOperation
        let side: KeychainSide
        let size: Int
        let clients: Int
    }

    private struct SearchKey: Hashable {
        let search: KeychainSearch
        let size: Int
    }

    private let plan: KeychainPlan
    /// The times to fill the keychains, in milliseconds.
    var fillingTimes: [Double] = []
    /// For each size, the memory of a restarted daemon, after the unlock and a get, and after all
    /// measurements.
    var memories: [(started: Memory, unlocked: Memory, loaded: Memory)] = []
    private var latencies: [Key: Samples] = [:]
    /// Answers per second.
    private var rates: [Key: Samples] = [:]
    private var processorTimes: [Key: Samples] = [:]
    /// By size.
    private var bareCommits: [Int: Samples] = [:]
    private var searches: [SearchKey: Samples] = [:]

    init(_ plan: KeychainPlan) { self.plan = plan }

    mutating func add(
        _ measured: (operations: [KeychainMeasurement], bareCommit: Double?),
        size: Int,
        clients: Int
    ) {
        for one in measured.operations {
            let key = Key(operation: one.operation, side: one.side, size: size, clients: clients)
            latencies[key, default: Samples()].add(one.outcome.medianLatency)
            rates[key, default: Samples()].add(one.outcome.answersPerSecond)
            if let time = one.outcome.processorTime { processorTimes[key, default: Samples()].add(time) }
        }
        if let bareCommit = measured.bareCommit { bareCommits[size, default: Samples()].add(bareCommit) }
    }

    mutating func add(_ milliseconds: Double, _ search: KeychainSearch, size: Int) {
        searches[SearchKey(search: search, size: size), default: Samples()].add(milliseconds)
    }

    // MARK: Requests

    private static let requestColumns = [
        "operation", "items", "clients", "latency to C", "spread", "rate to C", "processor to C", "latency", "in C",
        "rate", "in C", "processor", "in C",
    ]

    func printReadings() {
        for (items, time) in zip(plan.sizes, fillingTimes) {
            let each = (time * 1000 / Double(items)).formatted(0)
            print("Filled with \(items.grouped) items in \((time / 1000).formatted(1)) s, \(each) µs an item")
        }
        print("\nHow far from a C daemon that does the same work, by libsodium and SQLite?\n")
        var table = Table(Self.requestColumns)
        for operation in KeychainOperation.readings { addRows(of: operation, to: &table) }
        table.printOut()
        print(
            """

            Ratios are medians of \(plan.rounds) rounds, of what was measured side by side; spread is the middle half of \
            them. Latency
            is the median of the requests, processor the daemon's time for each. One client shares the daemon's core, \
            several have
            the other one. The exact search finds ten items by their service.
            """
        )
    }

    func printChanges() {
        print("\nAnd for changes?\n")
        var table = Table(Self.requestColumns)
        for operation in [KeychainOperation.add, .put, .update, .delete] { addRows(of: operation, to: &table) }
        table.printOut()
        print(
            """

            Every answer comes after a sync of the disk; changes of one turn of either daemon share it.
            """
        )
    }

    private func addRows(of operation: KeychainOperation, to table: inout Table) {
        for (size, items) in plan.sizes.enumerated() {
            for clients in plan.clients {
                let key = Key(operation: operation, side: .coffer, size: size, clients: clients)
                let isFirst = size == 0 && clients == plan.clients[0]
                var cells = [
                    isFirst ? operation.rawValue : "", clients == plan.clients[0] ? items.grouped : "",
                    clients.grouped,
                ]
                guard let latency = latencies[key], let rate = rates[key], let work = processorTimes[key] else {
                    continue
                }
                keep(key, items)
                let floor = counterpart(of: key, .equal)
                if let floor, let floorLatency = latencies[floor], let floorRate = rates[floor],
                    let floorWork = processorTimes[floor]
                {
                    let latencyRatio = latency.ratios(to: floorLatency)
                    cells += [
                        latencyRatio.median.formatted(2), latencyRatio.spread.asPercent,
                        rate.ratios(to: floorRate).median.formatted(2), work.ratios(to: floorWork).median.formatted(2),
                        latency.median.asShortTime, floorLatency.median.asShortTime,
                        Int(rate.median).grouped, Int(floorRate.median).grouped,
                        work.median.asShortTime, floorWork.median.asShortTime,
                    ]
                } else {
                    cells += [
                        "", "", "", "", latency.median.asShortTime, "", Int(rate.median).grouped, "",
                        work.median.asShortTime, "",
                    ]
                }
                table.add(cells)
            }
        }
    }

    private func counterpart(of key: Key, _ side: KeychainSide) -> Key? {
        key.operation.counterpart(side).map { Key(operation: $0, side: side, size: key.size, clients: key.clients) }
    }

    /// Keeps the figures of an operation, and those of the same by the C daemons.
    private func keep(_ key: Key, _ items: Int) {
        func keep(_ quantity: String, _ samples: [Key: Samples], _ value: (Samples) -> Figures.Value) {
            let name = "\(key.operation.rawValue) \(quantity)"
            guard let ours = samples[key] else { return }
            Figures.keep(name, items: items, clients: key.clients, value(ours))
            for (side, figureSide, suffix) in [
                (KeychainSide.equal, Figure.Side.equal, "equal C"), (.floor, .floor, "C"),
            ] {
                guard let theirs = counterpart(of: key, side).flatMap({ samples[$0] }) else { continue }
                Figures.keep(name, of: figureSide, items: items, clients: key.clients, value(theirs))
                Figures.keep(
                    "\(name) to \(suffix)",
                    items: items,
                    clients: key.clients,
                    .ratio(ours.ratios(to: theirs))
                )
            }
        }
        keep("latency", latencies) { .time($0) }
        keep("rate", rates) { .rate($0) }
        keep("processor time", processorTimes) { .time($0) }
    }

    // MARK: Commits

    func printCommits() {
        print("\nWhat does a durable put cost?\n")
        var table = Table([
            "items", "to a commit", "spread", "to \(plan.sizes[0]) items", "\(plan.clients.last ?? 1) writers to 1",
            "put", "a bare commit",
        ])
        func key(_ size: Int, _ clients: Int) -> Key {
            Key(operation: .put, side: .coffer, size: size, clients: clients)
        }
        for (size, items) in plan.sizes.enumerated() {
            guard let put = latencies[key(size, 1)], let first = latencies[key(0, 1)], let bare = bareCommits[size],
                let one = rates[key(size, 1)], let last = plan.clients.last, let many = rates[key(size, last)]
            else { continue }
            let toCommit = put.ratios(to: bare)
            let toFirst = put.ratios(to: first)
            let gain = many.ratios(to: one)
            Figures.keep("item.put latency to a bare commit", items: items, .ratio(toCommit))
            Figures.keep("item.put latency to that at the fewest items", items: items, .ratio(toFirst))
            Figures.keep("item.put rate to one writer", items: items, clients: last, .ratio(gain))
            Figures.keep("a commit", of: .floor, items: items, .time(bare))
            table.add([
                items.grouped,
                toCommit.median.formatted(2),
                toCommit.spread.asPercent,
                toFirst.median.formatted(2),
                gain.median.formatted(1),
                put.median.asShortTime,
                bare.median.asShortTime,
            ])
        }
        table.printOut()
        print(
            """

            A bare commit is one INSERT of the same row by itself, in WAL with synchronous=FULL, into a table of the same size \
            in the
            same directory, without a socket.
            """
        )
    }

    // MARK: Searches and memory

    func printSearches() {
        print("\nHow long does it take to look at every item?\n")
        var table = Table(["search", "items", "in all", "spread", "an item"])
        for search in KeychainSearch.allCases {
            for (size, items) in plan.sizes.enumerated() {
                guard let samples = searches[SearchKey(search: search, size: size)] else { continue }
                Figures.keep("\(search.rawValue) search, an item", items: items, .time(samples.divided(by: items)))
                table.add([
                    size == 0 ? search.rawValue : "",
                    items.grouped,
                    samples.median.asTime,
                    samples.spread.asPercent,
                    (samples.median / Double(items)).asShortTime,
                ])
            }
        }
        table.printOut()
        print("\nTen accounts are found, page by page, each page a request: other clients are served in between.")
    }

    func printMemory() {
        print("\nWhat is in memory?\n")
        var table = Table(["items", "started", "unlocked", "after the load", "most"])
        for (items, memory) in zip(plan.sizes, memories) {
            Figures.keep("memory, started", items: items, .kibibytes(memory.started.resident))
            Figures.keep("memory, unlocked", items: items, .kibibytes(memory.unlocked.resident))
            Figures.keep("memory, after the load", items: items, .kibibytes(memory.loaded.resident))
            table.add([
                items.grouped,
                memory.started.resident.asMebibytes,
                memory.unlocked.resident.asMebibytes,
                memory.loaded.resident.asMebibytes,
                memory.loaded.most.asMebibytes,
            ])
        }
        table.printOut()
        print(
            """

            Started: on the filled keychain, before the first unlock. Unlocked: after one get, which is what the target is for.
            After the load, and the most: of the daemon that was filled over \(KeychainStores.fillingClients.grouped) \
            connections and measured.
            """
        )
    }
}
