import CofferCore
import CofferWire
import Foundation

/// Large files as streams, beside age, cp and the bare cipher; parts of a large file, beside gocryptfs; many small files;
/// and what a change of class costs.
enum FilesBenchmark: Benchmark {
    static let name = "files"

    static func run(_ setting: Setting) throws {
        let plan = FilesPlan(setting.effort)
        try measureStreams(setting, plan)
        let vault = try FilesVault(setting, "vault")
        try measureParts(setting, vault, plan)
        try measureSmallFiles(setting, vault, plan)
        try measureClassChanges(vault, plan)
        vault.daemon.stop()
    }
}

/// How much is measured.
struct FilesPlan {
    /// The sizes of files that are streamed, in bytes, and how often.
    let streams: [(byteCount: Int, rounds: Int)]
    /// The bytes of a file that is read and written in parts.
    let largeBytes: Int
    /// The parts of a round.
    let parts: Int
    let partRounds: Int
    /// The small files of a round, for one client; and the rounds.
    let smallFiles: Int
    let smallRounds: Int
    let classRounds: Int

    init(_ effort: Effort) {
        switch effort {
        case .check:
            streams = [(4 << 10, 1), (256 << 10, 1)]
            (largeBytes, parts, partRounds, smallFiles, smallRounds, classRounds) = (1 << 20, 16, 1, 8, 1, 2)
        case .quick:
            streams = [(1 << 20, 15), (64 << 20, 7)]
            (largeBytes, parts, partRounds, smallFiles, smallRounds, classRounds) = (64 << 20, 500, 7, 200, 5, 25)
        case .full:
            streams = [(1 << 20, 25), (64 << 20, 9), (1 << 30, 5)]
            (largeBytes, parts, partRounds, smallFiles, smallRounds, classRounds) = (1 << 30, 2000, 7, 2000, 5, 25)
        }
    }
}

/// A vault for files, with its daemon.
final class FilesVault {
    static let protectionClass: JSONValue = "completeUntilFirstUserAuthentication"

    let daemon: BenchmarkDaemon
    let connection: BenchmarkConnection

    init(_ setting: Setting, _ name: String) throws {
        daemon = try BenchmarkDaemon(setting, name)
        try daemon.makeVault(items: 0)
        connection = try daemon.connect()
    }

    /// Stores what is in a plain file.
    func put(_ name: String, from path: String) throws {
        let source = try PlainFile(path, O_RDONLY)
        try connection.call("item.put", Self.putting(name), passing: source.number)
    }

    /// What a put into the file store says.
    static func putting(_ name: String) -> JSONObject {
        ["name": .string(name), "store": "file", "protection": protectionClass]
    }

    /// Writes a file that is stored to a plain one.
    func get(_ name: String, to path: String) throws {
        let output = try PlainFile(path, O_WRONLY | O_CREAT | O_TRUNC)
        try connection.call("item.get", ["name": .string(name)], passing: output.number)
    }

    func remove(_ name: String) throws { try connection.call("item.remove", ["name": .string(name)]) }
}

extension Samples {
    /// A median and how far the middle half spreads: two cells of a table.
    var ratioCells: [String] { [median.formatted(2), spread.asPercent] }
}
