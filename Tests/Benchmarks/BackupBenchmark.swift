import CofferBackup
import CofferCore
import CofferCrypto
import CofferMemory
import CofferSystem
import Foundation

/// Backups of a vault's state directory, beside restic and borg on the same files.
///
/// The files are random bytes, which is what a state directory has.
enum BackupBenchmark: Benchmark {
    static let name = "backup"
    /// The argument that makes this program add a snapshot, followed by a repository and a directory.
    static let runName = "backup-run"

    static func run(_ setting: Setting) throws {
        let plan = BackupPlan(setting.effort)
        let sides = BackupSide.installed(setting)
        for workload in plan.workloads {
            let source = "\(setting.directory)/source-\(workload.name)"
            tell("writing \(workload.words) ...")
            try workload.write(to: source)
            var (first, second) = (sides.map { _ in Samples() }, sides.map { _ in Samples() })
            var memory = 0
            tell("backing up (\(plan.rounds) rounds) ...")
            try interleave(rounds: plan.rounds, sides.count) { index, counts in
                try sides[index].create()
                let times = try (0..<2).map { _ in try milliseconds { try sides[index].backUp(source) } }
                memory = max(memory, sides[index].memoryKiB)
                try sides[index].remove()
                guard counts else { return }
                first[index].add(times[0])
                second[index].add(times[1])
            }
            print(workload, sides, first, second, memory)
            try FileManager.default.removeItem(atPath: source)
        }
    }

    private static func print(
        _ workload: BackupWorkload,
        _ sides: [BackupSide],
        _ first: [Samples],
        _ second: [Samples],
        _ memory: Int
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
            "\nCoffer's backup takes \(memory.asMebibytes) at most, the program itself included."
        )
        if sides.count < 3 { Swift.print("restic or borg is not installed: skipped") }
    }

    /// Adds a snapshot, and leaves beside the repository how much memory that took.
    static func addSnapshot(_ words: [String]) throws {
        let (place, source) = (words[0], words[1])
        let writer = try Repository.open(DirectoryStorage(place)).beginSnapshot(newest: nil)
        let paths = try FileManager.default.subpathsOfDirectory(atPath: source)
        for path in paths.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            var status = stat()
            guard unsafe lstat("\(source)/\(path)", &status) == 0, status.st_mode & S_IFMT == S_IFREG
            else { continue }
            let file = SnapshotFile(
                path: path,
                byteCount: Int64(status.st_size),
                isImmutable: path.hasPrefix("blobs/")
            )
            try writer.add(file) { () throws(CofferError) in
                do throws(SystemError) {
                    return try OwnedDescriptor.open("\(source)/\(path)", O_RDONLY)
                } catch {
                    throw error.cofferError("can't read a file")
                }
            }
        }
        let key = try BackupSide.signingKey()
        _ = try writer.finish { reference in
            unsafe key.signature(of: reference.signedMessage.span.bytes)
        }
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        try Data(line.filter(\.isNumber).utf8).write(to: URL(filePath: place + ".memory"))
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
                1 << 20
            ),
            // A secret takes about a kilobyte of the catalog.
            BackupWorkload(name: "secrets", words: "\(secrets.grouped) secrets", 0, 0, secrets << 10),
        ]
    }
}

/// The files of a state directory.
private struct BackupWorkload {
    let name: String
    let words: String
    private let fileCount: Int
    private let fileBytes: Int
    private let catalogBytes: Int

    init(name: String, words: String, _ fileCount: Int, _ fileBytes: Int, _ catalogBytes: Int) {
        (self.name, self.words) = (name, words)
        (self.fileCount, self.fileBytes, self.catalogBytes) = (fileCount, fileBytes, catalogBytes)
    }

    func write(to path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try PlainFile.make("\(path)/keybag", byteCount: 1707)
        try PlainFile.make("\(path)/vault.sqlite", byteCount: catalogBytes)
        for _ in 0..<fileCount {
            let id = ItemID().hexadecimal
            let folder = "\(path)/blobs/\(id.prefix(2))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try PlainFile.make("\(folder)/\(id)", byteCount: fileBytes)
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
    private let arguments: (_ source: String) -> [String]

    /// Coffer first, then what is installed.
    static func installed(_ setting: Setting) -> [BackupSide] {
        let password = "\(setting.directory)/password"
        unsafe setenv("RESTIC_PASSWORD", "correct horse battery staple", 1)
        unsafe setenv("BORG_PASSPHRASE", "correct horse battery staple", 1)
        unsafe setenv("RESTIC_CACHE_DIR", password + ".cache", 1)
        unsafe setenv("BORG_BASE_DIR", password + ".borg", 1)
        return [coffer(setting)] + [restic(setting), borg(setting)].compactMap { $0 }
    }

    private static func coffer(_ setting: Setting) -> BackupSide {
        let path = "\(setting.directory)/coffer-backup"
        return BackupSide(
            side: .coffer,
            path: path,
            initialize: { _ = try Repository.create(DirectoryStorage(path), try configuration()) },
            program: "/proc/self/exe",
            arguments: { [BackupBenchmark.runName, path, $0] }
        )
    }

    private static func restic(_ setting: Setting) -> BackupSide? {
        let path = "\(setting.directory)/restic"
        return Command.path(of: "restic").map { program in
            BackupSide(
                side: .restic,
                path: path,
                initialize: {
                    try Command.run(program, ["--quiet", "--repo", path, "init"], discardsOutput: true)
                },
                program: program,
                arguments: { ["--quiet", "--repo", path, "backup", $0] }
            )
        }
    }

    private static func borg(_ setting: Setting) -> BackupSide? {
        let path = "\(setting.directory)/borg"
        return Command.path(of: "borg").map { program in
            BackupSide(
                side: .borg,
                path: path,
                initialize: {
                    try Command.run(program, ["--critical", "init", "--encryption", "repokey-blake2", path])
                },
                program: program,
                arguments: { ["create", "\(path)::\(ItemID().hexadecimal)", $0] }
            )
        }
    }

    static func signingKey() throws -> SigningKey {
        let seed = try unsafe SecretBytes(
            copying: [UInt8](repeating: 1, count: SigningKey.seedBytes).span.bytes
        )
        guard let key = try SigningKey(seed: seed) else {
            throw CofferError(.internal, "a seed has another size")
        }
        return key
    }

    private static func configuration() throws -> RepositoryConfiguration {
        let symbols = Array(repeating: UInt8(ascii: "0"), count: BackupKey.symbolCount)
        return try RepositoryConfiguration(
            vaultID: ItemID(),
            verificationKey: try signingKey().publicKey,
            isAppendOnly: false,
            key: try BackupKey(try unsafe SecretBytes(copying: symbols.span.bytes)),
            passphrase: try SecretBytes(random: 16),
            cost: .interactive
        )
    }

    func create() throws { try initialize() }

    func backUp(_ source: String) throws {
        try Command.run(program, arguments(source), discardsOutput: true)
    }

    /// What Coffer's backups took.
    var memoryKiB: Int {
        (try? String(contentsOfFile: path + ".memory", encoding: .utf8)).flatMap { Int($0) } ?? 0
    }

    func remove() throws { try FileManager.default.removeItem(atPath: path) }
}
