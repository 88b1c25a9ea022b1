import CofferCore
import CofferWire
import Foundation

extension FilesBenchmark {
    private static let smallBytes = 1 << 10
    private static let manyClients = 64

    // MARK: Small files

    /// Stores and reads many small files, compared with unencrypted ones that are synced equally.
    static func measureSmallFiles(_ setting: Setting, _ vault: FilesVault, _ plan: FilesPlan) throws {
        tell("storing and reading small files (\(plan.smallRounds) rounds) ...")
        let plain = try PlainFiles(setting, count: plan.smallFiles)
        var results: [String: [String: Samples]] = [:]
        func add(_ operation: String, _ side: String, _ time: Double) {
            results[operation, default: [:]][side, default: Samples()].add(time / Double(plan.smallFiles))
        }
        for round in 0...plan.smallRounds {
            for place in 0..<3 {
                let times: (put: Double, get: Double)
                let side = ["coffer", "many", "plain"][(place + round) % 3]
                switch side {
                case "plain": times = try plain.measure()
                default: times = try measureSmall(vault, plan, round, clients: side == "many" ? manyClients : 1)
                }
                guard round > 0 else { continue }
                add("put", side, times.put)
                add("get", side, times.get)
            }
        }
        printSmallFiles(results, plan)
    }

    /// Measures one round.
    ///
    /// - Returns: The milliseconds of the puts and of the gets.
    private static func measureSmall(
        _ vault: FilesVault,
        _ plan: FilesPlan,
        _ round: Int,
        clients: Int
    ) throws -> (put: Double, get: Double) {
        // Each round and each number of clients stores new files.
        let name = "\(clients)/\(round)/\(LoadRequest.account)"
        let put = LoadRequest(
            "item.put",
            FilesVault.putting(name),
            payload: [UInt8](repeating: 7, count: smallBytes)
        )
        let get = LoadRequest("item.get", ["name": .string(name)], answerPayloadBytes: smallBytes)
        func run(_ request: LoadRequest) throws -> Double {
            try request.run(
                at: vault.daemon.socketPath,
                clients: clients,
                .ascending(from: 0),
                until: .requests(plan.smallFiles)
            ).milliseconds
        }
        return (try run(put), try run(get))
    }

    private static func printSmallFiles(_ results: [String: [String: Samples]], _ plan: FilesPlan) {
        let count = plan.smallFiles * plan.smallRounds
        print("\nHow long does each of \(count.grouped) files of \(smallBytes.asBytes) take?\n")
        var table = Table(["small file", "clients", "rate to plain files", "spread", "each", "a plain file"])
        for operation in ["put", "get"] {
            guard let times = results[operation], let plain = times["plain"] else { continue }
            Figures.keep("\(operation) of a small file", of: .plain, clients: 1, .time(plain))
            for (side, clients) in [("coffer", 1), ("many", manyClients)] {
                guard let ours = times[side] else { continue }
                Figures.keep("\(operation) of a small file", clients: clients, .time(ours))
                Figures.keep(
                    "\(operation) of a small file to a plain file",
                    clients: clients,
                    .ratio(plain.ratios(to: ours))
                )
                table.add(
                    ["\(operation) of a small file", "\(clients)"] + plain.ratios(to: ours).ratioCells
                        + [ours.median.asShortTime, plain.median.asShortTime]
                )
            }
        }
        table.printOut()
        print(
            """

            A plain file is made, written, synced, and its directory synced, by one process, one after the other; or opened, \
            read and
            closed. Each of ours is a row of the catalog as well. Many clients share the syncs of the catalog.
            """
        )
    }

    // MARK: Classes

    /// Changes the class of a large and of a small file.
    static func measureClassChanges(_ vault: FilesVault, _ plan: FilesPlan) throws {
        tell("changing classes (\(plan.classRounds) rounds) ...")
        let source = "\(vault.daemon.statePath).source"
        let files = [("small", 1 << 10), ("large", plan.largeBytes)]
        for (name, byteCount) in files {
            try PlainFile.make(source, byteCount: byteCount)
            try vault.put(name, from: source)
            try FileManager.default.removeItem(atPath: source)
        }
        var samples = files.map { _ in Samples() }
        for round in 0...plan.classRounds {
            for place in files.indices {
                let index = (place + round) % files.count
                let to: JSONValue = round.isMultiple(of: 2) ? "complete" : FilesVault.protectionClass
                let taken = try milliseconds {
                    try vault.connection.call(
                        "item.protect",
                        ["name": .string(files[index].0), "class": to]
                    )
                }
                if round > 0 { samples[index].add(taken) }
            }
        }
        print("\nDoes a change of class depend on the size of the file?\n")
        var table = Table(["class change", "median", "spread", "to the small one", "spread"])
        for (index, (_, byteCount)) in files.enumerated() {
            let ratio = samples[index].ratios(to: samples[0])
            Figures.keep("class change", bytes: byteCount, .time(samples[index]))
            if index > 0 { Figures.keep("class change to that of a small file", bytes: byteCount, .ratio(ratio)) }
            table.add(
                ["class change of \(byteCount.asBytes)", samples[index].median.asTime, samples[index].spread.asPercent]
                    + (index == 0 ? [] : ratio.ratioCells)
            )
        }
        table.printOut()
        print("\nEach is on the disk before it is answered.")
    }
}

/// Unencrypted files without a vault.
private struct PlainFiles {
    private static let byteCount = 1 << 10
    private let directory: String
    private let count: Int

    init(_ setting: Setting, count: Int) throws {
        directory = "\(setting.directory)/plain"
        self.count = count
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    /// Measures one round.
    ///
    /// - Returns: The milliseconds of creating and of reading them.
    func measure() throws -> (put: Double, get: Double) {
        let opened = try PlainFile(directory, O_RDONLY | O_DIRECTORY)
        var bytes = [UInt8](repeating: 7, count: Self.byteCount)
        let puts = try milliseconds {
            for number in 0..<count {
                let file = try PlainFile("\(directory)/\(number)", O_WRONLY | O_CREAT | O_EXCL)
                try file.write(bytes)
                try file.synchronize()
                try opened.synchronize()
            }
        }
        let gets = try milliseconds {
            for number in 0..<count { try PlainFile("\(directory)/\(number)", O_RDONLY).read(into: &bytes, at: 0) }
        }
        for number in 0..<count { try FileManager.default.removeItem(atPath: "\(directory)/\(number)") }
        return (puts, gets)
    }
}
