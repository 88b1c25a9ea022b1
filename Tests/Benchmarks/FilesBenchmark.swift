import CofferCore
import CofferWire
import Foundation

/// Streams, parts, small files, and changes of the class.
///
/// Streams of large files are compared with age, cp and the bare cipher, and parts of a large file with
/// gocryptfs.
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

/// The amounts of a run.
struct FilesPlan {
    /// The sizes of streams in bytes, with their rounds.
    let streams: [(byteCount: Int, rounds: Int)]
    /// The size of the file that is read and written in parts.
    let largeBytes: Int
    /// The number of parts in a round.
    let parts: Int
    let partRounds: Int
    /// The number of small files of a client in a round, and the rounds.
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

    /// Stores the content of an unencrypted file.
    func put(_ name: String, from path: String) throws {
        let source = try PlainFile(path, O_RDONLY)
        try connection.call("item.put", Self.putting(name), passing: source.number)
    }

    /// The parameters of a put into the file store.
    static func putting(_ name: String) -> JSONObject {
        ["name": .string(name), "store": "file", "protection": protectionClass]
    }

    /// Writes a stored file to an unencrypted one.
    func get(_ name: String, to path: String) throws {
        let output = try PlainFile(path, O_WRONLY | O_CREAT | O_TRUNC)
        try connection.call("item.get", ["name": .string(name)], passing: output.number)
    }

    func remove(_ name: String) throws { try connection.call("item.remove", ["name": .string(name)]) }
}

extension Samples {
    /// The median and the spread of the middle half, as two cells of a table.
    var ratioCells: [String] { [median.formatted(2), spread.asPercent] }
}
