import CBenchmarks
import CofferCore
import Foundation

extension KeychainBenchmark {
    /// Compares with gnome-keyring through libsecret in this process, if both are installed.
    ///
    /// The keyring has its own session bus and home. It is unlocked from the start, because a prompt would
    /// block for ever.
    static func compareWithKeyring(_ setting: Setting, _ stores: KeychainStores, _ plan: KeychainPlan) throws {
        print("\nHow far from gnome-keyring?\n")
        guard let keyring = try Keyring(setting) else {
            return print("gnome-keyring, libsecret or dbus-daemon is not installed: skipped")
        }
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

/// A gnome-keyring on its own bus.
private final class Keyring {
    private let bus = Process()
    private let daemon = Process()
    private(set) var items = 0

    /// Starts the keyring.
    ///
    /// - Returns: `nil` if a part of it is not installed.
    init?(_ setting: Setting) throws {
        guard keyring_load() != 0 else { return nil }
        let programs = ["dbus-daemon", "gnome-keyring-daemon"].compactMap { name in
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
                .first(where: FileManager.default.isExecutableFile)
        }
        guard programs.count == 2 else { return nil }

        let home = "\(setting.directory)/keyring"
        let keyrings = "\(home)/keyrings"
        try FileManager.default.createDirectory(atPath: keyrings, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home)
        try Data("login".utf8).write(to: URL(filePath: "\(keyrings)/default"))
        let address = "unix:path=\(home)/bus"
        let environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": home, "XDG_DATA_HOME": home,
            "XDG_RUNTIME_DIR": home, "DBUS_SESSION_BUS_ADDRESS": address,
        ]
        try start(bus, [programs[0], "--session", "--nofork", "--nopidfile", "--address=\(address)"], environment)
        try wait(for: "\(home)/bus")
        let passcode = Pipe()
        daemon.standardInput = passcode
        try start(daemon, [programs[1], "--foreground", "--components=secrets", "--unlock"], environment)
        passcode.fileHandleForWriting.write(Data("correct horse battery staple".utf8))
        try passcode.fileHandleForWriting.close()
        try wait(for: "\(keyrings)/login.keyring")
        unsafe setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
    }

    deinit {
        // Foundation traps when a process that was never started is terminated, as after a failed start.
        let started = [daemon, bus].filter(\.isRunning)
        for process in started { process.terminate() }
        for process in started { process.waitUntilExit() }
    }

    private func start(_ process: Process, _ command: [String], _ environment: [String: String]) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = BenchmarkDaemon.endingWithUs + command
        process.environment = environment
        if process.standardInput == nil { process.standardInput = FileHandle.nullDevice }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    private func wait(for path: String) throws {
        for _ in 0..<500 {
            if FileManager.default.fileExists(atPath: path) { return }
            usleep(10_000)
        }
        throw CofferError(.notAvailable, "gnome-keyring did not come up")
    }

    func fill(to count: Int) throws {
        _ = try store(items..<count)
        items = count
    }

    /// Stores items, and returns the time of each in milliseconds.
    func store(_ range: Range<Int>) throws -> Samples {
        unsafe try times(range.count) { unsafe keyring_store(UInt64(range.lowerBound), UInt64(range.count), $0) }
    }

    func clear(_ range: Range<Int>) throws -> Samples {
        unsafe try times(range.count) { unsafe keyring_clear(UInt64(range.lowerBound), UInt64(range.count), $0) }
    }

    func lookUp(_ count: Int, seed: Int) throws -> Samples {
        unsafe try times(count) { unsafe keyring_look_up(UInt64(items), UInt64(count), UInt64(seed) << 32, $0) }
    }

    private func times(
        _ count: Int,
        _ body: (UnsafeMutablePointer<UInt64>) -> UnsafePointer<CChar>?
    ) throws -> Samples {
        var nanoseconds = [UInt64](repeating: 0, count: count)
        let trouble = unsafe nanoseconds.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.flatMap { unsafe body($0) }.map { unsafe String(cString: $0) }
        }
        if let trouble { throw CofferError(.internal, trouble) }
        var samples = Samples()
        for time in nanoseconds { samples.add(Double(time) / 1e6) }
        return samples
    }
}

/// The operations that both sides support.
private struct KeyringContest {
    static let operations: [KeychainOperation] = [.find, .add, .delete]

    private let keyring: Keyring
    private let stores: KeychainStores
    private let plan: KeychainPlan
    private var ours: [KeychainOperation: (latencies: Samples, rates: Samples)] = [:]
    private var theirs: [KeychainOperation: (latencies: Samples, rates: Samples)] = [:]

    init(_ keyring: Keyring, _ stores: KeychainStores, _ plan: KeychainPlan) {
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
                case .add: try keyring.store(others)
                case .delete: try keyring.clear(others)
                default: try keyring.lookUp(lookUps, seed: round + 1)
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
