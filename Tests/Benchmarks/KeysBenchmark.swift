import CofferCore
import CofferCrypto
import CofferMemory
import CofferWire
import Foundation

/// Operations on the keys of a vault, at ten items and at a million, and with a thousand open connections.
enum KeysBenchmark: Benchmark {
    static let name = "keys"

    static func run(_ setting: Setting) throws {
        let plan = Plan(setting.effort)
        var results = Results(sizes: plan.sizes)
        let vaults = try plan.sizes.map { try KeysVault(setting, items: $0) }
        results.makingTimes = vaults.map(\.makingTime)
        try measureOperations(vaults, plan, &results)
        try measureErase(vaults, setting, plan, &results)
        results.printSizes()
        results.printArgon()
        try measureLocks(setting, rounds: plan.rounds, connections: plan.connections)
    }

    private static func measureOperations(_ vaults: [KeysVault], _ plan: Plan, _ results: inout Results) throws {
        tell("measuring (\(plan.rounds) rounds) ...")
        // Each operation runs on all vaults in turn, so that compared measurements are milliseconds apart.
        for round in 0...plan.rounds {
            for operation in Operation.cycle where !results.missing.contains(operation) {
                for place in vaults.indices {
                    let index = (place + round) % vaults.count
                    try results.measure(operation, index, counts: round > 0) {
                        try vaults[index].carryOut(operation, round)
                    }
                }
            }
        }
    }

    private static func measureErase(
        _ vaults: [KeysVault],
        _ setting: Setting,
        _ plan: Plan,
        _ results: inout Results
    ) throws {
        tell("erasing copies (\(plan.eraseRounds) rounds) ...")
        for vault in vaults { vault.daemon.stop() }
        try interleave(rounds: plan.eraseRounds, vaults.count) { index, counts in
            if results.missing.contains(.erase) { return }
            let copy = try vaults[index].copied(setting)
            defer { copy.remove() }
            try results.measure(.erase, index, counts: counts) { try copy.erase() }
        }
    }
}

/// The amounts of a run.
private struct Plan {
    let sizes: [Int]
    let rounds: Int
    /// Each erase needs a copy of the vault.
    let eraseRounds: Int
    let connections: Int

    init(_ effort: Effort) {
        switch effort {
        case .check: (sizes, rounds, eraseRounds, connections) = ([10, 20], 1, 1, 20)
        case .quick: (sizes, rounds, eraseRounds, connections) = ([10, 10_000], 25, 5, 1000)
        case .full: (sizes, rounds, eraseRounds, connections) = ([10, 10_000, 1_000_000], 25, 5, 1000)
        }
    }
}

/// The operations that are measured at each size.
private enum Operation: String, CaseIterable {
    case hello
    case status
    case argon = "bare Argon2id"
    case unlock
    case secretClass = "class change of a secret"
    case fileClass = "class change of a file"
    case passcodeChange = "passcode change"
    case lock
    case erase

    /// The order of a round, which begins and ends locked.
    static let cycle: [Operation] = [
        .hello, .status, .argon, .unlock, .secretClass, .fileClass, .passcodeChange, .lock,
    ]
    /// The operations whose time must not depend on the size.
    static let judged: [Operation] = [.unlock, .lock, .passcodeChange, .secretClass, .fileClass, .erase]
}

// MARK: - The vaults

/// A vault of a size, with its daemon.
private final class KeysVault {
    let items: Int
    let daemon: BenchmarkDaemon
    /// The time to store the items, in milliseconds.
    let makingTime: Double
    private let connection: BenchmarkConnection
    private var passcode = BenchmarkDaemon.passcode

    init(_ setting: Setting, items: Int) throws {
        self.items = items
        tell("making a vault of \(items.grouped) items ...")
        daemon = try BenchmarkDaemon(setting, "vault-\(items)")
        makingTime = try daemon.makeVault(items: items)
        connection = try daemon.connect()
        try connection.call("vault.lock", ["grace": 0])
    }

    /// Uses an existing copy of a vault.
    private init(_ setting: Setting, copy name: String, items: Int, passcode: [UInt8]) throws {
        self.items = items
        self.passcode = passcode
        makingTime = 0
        daemon = try BenchmarkDaemon(setting, name)
        connection = try daemon.connect()
    }

    /// Performs an operation.
    ///
    /// - Returns: The time in milliseconds.
    func carryOut(_ operation: Operation, _ round: Int) throws -> Double {
        let isEven = round.isMultiple(of: 2)
        switch operation {
        case .hello: return try time("hello", ["protocol": .integer(Int64(Version.protocolNumber))])
        case .status: return try time("vault.status")
        case .argon: return try bareArgon(passcode)
        case .unlock: return try time("vault.unlock", payload: passcode, expecting: "unlocked")
        case .lock: return try time("vault.lock", ["grace": 0], expecting: "locked")
        case .secretClass:
            return try time(
                "item.protect",
                ["name": "s/0", "accessible": isEven ? "WhenUnlocked" : "AfterFirstUnlock"]
            )
        case .fileClass:
            return try time(
                "item.protect",
                ["name": "f/0", "class": isEven ? "complete" : "completeUntilFirstUserAuthentication"]
            )
        case .passcodeChange:
            let new = Array("passcode number \(round)".utf8)
            let payload = [passcode, new].flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xff)] + $0 }
            let taken = try time("passcode.change", ["kdf": "interactive"], payload: payload)
            passcode = new
            return taken
        case .erase: return try erase()
        }
    }

    /// Erases the vault.
    func erase() throws -> Double {
        guard let id = try connection.call("vault.status")["vaultID"] else {
            throw CofferError(.unimplemented, "the daemon does not name its vault")
        }
        let taken = try time("vault.erase", ["vaultID": id])
        guard try connection.call("vault.status")["state"] == "noVault" else {
            throw CofferError(.internal, "the vault is still there after an erase")
        }
        return taken
    }

    private func time(
        _ method: String,
        _ params: JSONObject = [:],
        payload: [UInt8] = [],
        expecting state: JSONValue? = nil
    ) throws -> Double {
        let frame = BenchmarkConnection.frame(method, params, payload)
        // Wakes the daemon, so that its earlier work and its sleep do not affect the operation.
        try connection.call("hello", ["protocol": .integer(Int64(Version.protocolNumber))])
        var answer = JSONObject()
        let taken = try milliseconds {
            try connection.send(frame)
            answer = try connection.answer()
        }
        guard state == nil || answer["state"] == state else {
            throw CofferError(.internal, "after \(method) the vault is in another state than it should be")
        }
        return taken
    }

    /// A copy of the vault on the disk, with its own daemon.
    ///
    /// The vault's daemon must be stopped.
    func copied(_ setting: Setting) throws -> KeysVault {
        let name = "copy-\(items)"
        try runToEnd("/bin/cp", ["--archive", daemon.statePath, "\(setting.directory)/\(name)"])
        // The sync puts on the disk what an erase must discard, as in real use.
        try runToEnd("/bin/sync", ["--file-system", setting.directory])
        let copy = try KeysVault(setting, copy: name, items: items, passcode: passcode)
        try copy.connection.call("vault.status")
        return copy
    }

    /// Stops and removes a copy.
    func remove() {
        daemon.stop()
        try? FileManager.default.removeItem(atPath: daemon.statePath)
    }
}

private func runToEnd(_ path: String, _ arguments: [String]) throws {
    let process = try Process.run(URL(filePath: path), arguments: arguments)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CofferError(.io, "\(path) failed") }
}

/// The key derivation of the passcode alone, in milliseconds.
private func bareArgon(_ passcode: [UInt8]) throws -> Double {
    let typed = unsafe try SecretBytes(copying: passcode.span.bytes)
    let salt = [UInt8](repeating: 1, count: KeyDerivation.saltBytes)
    let cost = PasscodeCost.interactive
    return try milliseconds {
        _ = try KeyDerivation.passcodeKey(typed, salt: salt, operations: cost.operations, memoryKiB: cost.memoryKiB)
    }
}

// MARK: - The results

private struct Results {
    let sizes: [Int]
    /// The operations that this daemon does not support.
    private(set) var missing: Set<Operation> = []
    /// The times to fill the vaults, in milliseconds.
    var makingTimes: [Double] = []
    private var samples: [Operation: [Samples]] = [:]

    init(sizes: [Int]) { self.sizes = sizes }

    mutating func measure(_ operation: Operation, _ index: Int, counts: Bool, _ body: () throws -> Double) throws {
        do {
            let taken = try body()
            if counts { samples[operation, default: sizes.map { _ in Samples() }][index].add(taken) }
        } catch let error as CofferError where error.code == .unimplemented {
            missing.insert(operation)
        }
    }

    func printSizes() {
        print("Vaults that were filled through the socket, \(BenchmarkDaemon.fillingConnections.grouped) connections:")
        for (items, time) in zip(sizes, makingTimes) {
            let each = (time * 1000 / Double(items)).formatted(0)
            print("  \(items.grouped) items in \((time / 1000).formatted(1)) s, \(each) µs an item")
        }
        print("\nThe same at every number of items?\n")
        var table = Table(["operation", "items", "median", "spread", "to \(sizes[0]) items"])
        for operation in Operation.judged + [.status, .hello] {
            guard let samples = samples[operation], !missing.contains(operation) else {
                table.add([operation.rawValue, "this daemon does not know it: not measured"])
                continue
            }
            for (index, items) in sizes.enumerated() {
                let ratio = samples[index].median / samples[0].median
                Figures.keep(operation.rawValue, items: items, .time(samples[index]))
                if index > 0 {
                    Figures.keep("\(operation.rawValue) to that at 10 items", items: items, .plainRatio(ratio))
                }
                table.add([
                    index == 0 ? operation.rawValue : "",
                    items.grouped,
                    samples[index].median.asTime,
                    samples[index].spread.asPercent,
                    ratio.formatted(2),
                ])
            }
        }
        table.printOut()
        print(
            """

            Spread: the middle half of the samples, as a part of the median: where it is wider than what two sizes differ by,
            repeat it when the machine is quieter. The passcode's cost is 'interactive' throughout.
            """
        )
    }

    func printArgon() {
        print("\nWhat is beyond the bare Argon2id?\n")
        var table = Table(["operation", "items", "bare Argon2id", "in all", "ratio", "beyond"])
        let bare = Samples(joining: samples[.argon] ?? []).median
        for (operation, guesses) in [(Operation.unlock, 1), (.passcodeChange, 2)] {
            guard let all = samples[operation], !missing.contains(operation) else { continue }
            for (index, items) in sizes.enumerated() {
                let floor = Double(guesses) * bare
                table.add([
                    index == 0 ? operation.rawValue : "",
                    items.grouped,
                    (guesses == 1 ? "" : "\(guesses) x ") + bare.asTime,
                    all[index].median.asTime,
                    (all[index].median / floor).formatted(2),
                    (all[index].median - floor).asTime,
                ])
            }
        }
        table.printOut()
    }
}
