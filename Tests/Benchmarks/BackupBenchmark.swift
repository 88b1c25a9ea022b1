import CofferBackup
import CofferCore
import CofferMemory
import CofferWire
import Foundation

/// Backups of a real vault by `coffer backup create`, beside restic and borg on its state directory.
enum BackupBenchmark: Benchmark {
    static let name = "backup"

    static func run(_ setting: Setting) throws {
        let plan = BackupPlan(setting.effort)
        for workload in plan.workloads {
            tell("making a vault of \(workload.words) ...")
            let daemon = try BenchmarkDaemon(setting, "backup-\(workload.name)")
            try workload.fill(daemon, setting)
            let sides = BackupSide.installed(setting, daemon)
            var (first, second) = (sides.map { _ in Samples() }, sides.map { _ in Samples() })
            tell("backing up (\(plan.rounds) rounds) ...")
            try interleave(rounds: plan.rounds, sides.count) { index, counts in
                try sides[index].create()
                let times = try (0..<2).map { _ in try milliseconds { try sides[index].backUp() } }
                try sides[index].remove()
                guard counts else { return }
                first[index].add(times[0])
                second[index].add(times[1])
            }
            try sides[0].create()
            let memory = try sides[0].memoryOfFirst()
            print(workload, sides, first, second, memory, try daemon.memory().most)
            daemon.stop()
            try FileManager.default.removeItem(atPath: daemon.statePath)
            try sides[0].remove()
        }
    }

    private static func print(
        _ workload: BackupWorkload,
        _ sides: [BackupSide],
        _ first: [Samples],
        _ second: [Samples],
        _ memory: Int,
        _ daemonMemory: Int
    ) {
        Swift.print("\nHow long does a backup of \(workload.words) take?\n")
        var table = Table(["program", "first", "spread", "second, unchanged", "spread"])
        for (index, side) in sides.enumerated() {
            table.add([
                side.side.rawValue, first[index].median.asTime, first[index].spread.asPercent,
                second[index].median.asTime, second[index].spread.asPercent,
            ])
            let name = "backup of \(workload.name)"
            Figures.keep("first \(name)", of: side.side, .time(first[index]))
            Figures.keep("second \(name)", of: side.side, .time(second[index]))
            guard index > 0 else { continue }
            let other = side.side.rawValue
            Figures.keep("first \(name), rate to \(other)", .ratio(first[index].ratios(to: first[0])))
            Figures.keep("second \(name), time to \(other)", .ratio(second[0].ratios(to: second[index])))
        }
        table.printOut()
        Figures.keep("memory of a backup of \(workload.name)", .kibibytes(memory))
        Swift.print(
            "\nCoffer's program takes \(memory.asMebibytes) at most, and the daemon has taken \(daemonMemory.asMebibytes)."
        )
        if sides.count < 3 { Swift.print("restic or borg is not installed: skipped") }
    }
}

private struct BackupPlan {
    let rounds: Int
    let workloads: [BackupWorkload]

    init(_ effort: Effort) {
        let (files, fileBytes, secrets) =
            switch effort {
            case .check: (10, 100_000, 100)
            case .quick: (100, 10 << 20, 10_000)
            case .full: (1000, 10 << 20, 100_000)
            }
        rounds = effort == .check ? 1 : effort == .quick ? 5 : 3
        workloads = [
            BackupWorkload(
                name: "files",
                words: "\(files.grouped) files of \(fileBytes.asBytes)",
                files,
                fileBytes,
                0
            ),
            BackupWorkload(name: "secrets", words: "\(secrets.grouped) secrets", 0, 0, secrets),
        ]
    }
}

/// What a vault has.
private struct BackupWorkload {
    let name: String
    let words: String
    private let fileCount: Int
    private let fileBytes: Int
    private let secretCount: Int

    init(name: String, words: String, _ fileCount: Int, _ fileBytes: Int, _ secretCount: Int) {
        (self.name, self.words) = (name, words)
        (self.fileCount, self.fileBytes, self.secretCount) = (fileCount, fileBytes, secretCount)
    }

    func fill(_ daemon: BenchmarkDaemon, _ setting: Setting) throws {
        try daemon.makeVault(items: secretCount)
        let source = "\(setting.directory)/content"
        let connection = try daemon.connect()
        for number in 0..<fileCount {
            try PlainFile.make(source, byteCount: fileBytes)
            let content = try PlainFile(source, O_RDONLY)
            try connection.call(
                "item.put",
                ["name": .string("large/\(number)"), "store": "file"],
                passing: content.number
            )
            try FileManager.default.removeItem(atPath: source)
        }
    }
}

/// A program that makes backups.
private struct BackupSide {
    let side: Figure.Side
    /// The repository.
    let path: String
    private let initialize: () throws -> Void
    private let program: String
    private let arguments: () -> [String]

    /// Coffer first, then what is installed.
    static func installed(_ setting: Setting, _ daemon: BenchmarkDaemon) -> [BackupSide] {
        let password = "\(setting.directory)/password"
        unsafe setenv("COFFER_SOCKET", daemon.socketPath, 1)
        unsafe setenv("RESTIC_PASSWORD", "correct horse battery staple", 1)
        unsafe setenv("BORG_PASSPHRASE", "correct horse battery staple", 1)
        unsafe setenv("RESTIC_CACHE_DIR", password + ".cache", 1)
        unsafe setenv("BORG_BASE_DIR", password + ".borg", 1)
        return [coffer(setting, daemon)]
            + [restic(setting, daemon.statePath), borg(setting, daemon.statePath)].compactMap { $0 }
    }

    private static func coffer(_ setting: Setting, _ daemon: BenchmarkDaemon) -> BackupSide {
        let path = "\(setting.directory)/coffer-backup"
        return BackupSide(
            side: .coffer,
            path: path,
            initialize: {
                let answer = try daemon.connect().call("backup.register", ["repository": .string(path)])
                _ = try Repository.create(DirectoryStorage(path), try configuration(answer))
            },
            program: URL(filePath: setting.daemonPath).deletingLastPathComponent().appending(path: "coffer").path,
            arguments: { ["backup", "create", "--json"] }
        )
    }

    private static func restic(_ setting: Setting, _ source: String) -> BackupSide? {
        let path = "\(setting.directory)/restic"
        return Command.path(of: "restic").map { program in
            BackupSide(
                side: .restic,
                path: path,
                initialize: {
                    try Command.run(program, ["--quiet", "--repo", path, "init"], discardsOutput: true)
                },
                program: program,
                arguments: { ["--quiet", "--repo", path, "backup", source] }
            )
        }
    }

    private static func borg(_ setting: Setting, _ source: String) -> BackupSide? {
        let path = "\(setting.directory)/borg"
        return Command.path(of: "borg").map { program in
            BackupSide(
                side: .borg,
                path: path,
                initialize: {
                    try Command.run(program, ["--critical", "init", "--encryption", "repokey-blake2", path])
                },
                program: program,
                arguments: { ["create", "\(path)::\(ItemID().hexadecimal)", source] }
            )
        }
    }

    /// As 'coffer backup init' makes it, except that no keyslot belongs to it: nothing is restored.
    private static func configuration(_ registration: JSONObject) throws -> RepositoryConfiguration {
        let symbols = Array(repeating: UInt8(ascii: "0"), count: BackupKey.symbolCount)
        let vaultID = registration["vaultID"]?.stringValue.flatMap { ItemID(hexadecimal: $0) }
        let key = registration["publicKey"]?.stringValue.flatMap { Base64.decode($0) }
        guard let vaultID, let key else { throw CofferError(.protocolViolation, "the daemon has told no key") }
        return try RepositoryConfiguration(
            vaultID: vaultID,
            verificationKey: key,
            isAppendOnly: false,
            key: try BackupKey(try unsafe SecretBytes(copying: symbols.span.bytes)),
            passphrase: try SecretBytes(random: 16),
            cost: .interactive
        )
    }

    func create() throws { try initialize() }

    func backUp() throws { try Command.run(program, arguments(), discardsOutput: true) }

    /// The memory that the program takes for a first backup, in KiB.
    func memoryOfFirst() throws -> Int { try Command.memory(program, arguments()) }

    func remove() throws { try FileManager.default.removeItem(atPath: path) }
}
