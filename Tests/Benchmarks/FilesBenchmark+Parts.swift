import CofferCore
import CofferWire
import Foundation

extension FilesBenchmark {
    /// Reads and writes parts of a large file through a handle.
    static func measureParts(_ setting: Setting, _ vault: FilesVault, _ plan: FilesPlan) throws {
        tell("reading and writing parts of \(plan.largeBytes.asBytes) (\(plan.partRounds) rounds) ...")
        let source = "\(setting.directory)/large"
        try PlainFile.make(source, byteCount: plan.largeBytes)
        var all: [any PartsContestant] = [
            try StoredParts(vault, source), try PlainParts(source), try OpenedChunks(),
        ]
        let encrypted = try EncryptedDirectory(setting)
        if let encrypted { all.append(try EncryptedParts(encrypted, source)) }

        var results: [PartsKind: [String: Samples]] = [:]
        for round in 0...plan.partRounds {
            let offsets = randomOffsets(plan)
            for place in all.indices {
                let one = all[(place + round) % all.count]
                let times = try one.measure(offsets)
                guard round > 0 else { continue }
                for (kind, time) in times {
                    results[kind, default: [:]][one.name, default: Samples()].add(time / Double(offsets.count))
                }
            }
        }
        all = []
        try encrypted?.unmount()
        try FileManager.default.removeItem(atPath: source)
        try vault.remove(StoredParts.storedName)
        printParts(results, plan, hasOther: encrypted != nil)
    }

    /// Distinct random offsets.
    private static func randomOffsets(_ plan: FilesPlan) -> [Int64] {
        let count = plan.largeBytes / partBytes
        var chosen = Set<Int>()
        while chosen.count < plan.parts { chosen.insert(Int.random(in: 0..<count)) }
        return chosen.shuffled().map { Int64($0 * partBytes) }
    }

    private static func printParts(
        _ results: [PartsKind: [String: Samples]],
        _ plan: FilesPlan,
        hasOther: Bool
    ) {
        print("\nHow long does a part of \(partBytes.asBytes) of a file of \(plan.largeBytes.asBytes) take?\n")
        var table = Table([
            "part", "rate to gocryptfs", "spread", "to a plain file", "to a chunk opened", "each", "gocryptfs",
            "plain file", "a chunk opened",
        ])
        for kind in PartsKind.allCases {
            guard let times = results[kind], let ours = times[StoredParts.name] else { continue }
            let toOther = times[EncryptedParts.name]?.ratios(to: ours)
            keep(kind, times, plan)
            func ratio(_ name: String) -> String { times[name]?.ratios(to: ours).median.formatted(2) ?? "" }
            func time(_ name: String) -> String { times[name]?.median.asShortTime ?? "" }
            table.add(
                [kind.rawValue] + (toOther?.ratioCells ?? ["", ""])
                    + [ratio(PlainParts.name), ratio(OpenedChunks.name), time(StoredParts.name)]
                    + [time(EncryptedParts.name), time(PlainParts.name), time(OpenedChunks.name)]
            )
        }
        table.printOut()
        if !hasOther { print("gocryptfs is not installed, or /dev/fuse can't be used: skipped") }
        print(
            """

            \(plan.parts.grouped) parts at random a round, one after the other by one client. A sync at the end is shared by \
            them. What is read is in the page cache of the sealed file, on both sides, and has to \
            be
            opened. A chunk opened: the cipher over the \(Limits.chunkBytes.asBytes) that a part is in, which is the least there \
            is to do.
            """
        )
    }
}

extension FilesBenchmark {
    private static func keep(_ kind: PartsKind, _ times: [String: Samples], _ plan: FilesPlan) {
        let sides: [(String, Figure.Side)] = [
            (StoredParts.name, .coffer), (EncryptedParts.name, .gocryptfs), (PlainParts.name, .plain),
            (OpenedChunks.name, .cipher),
        ]
        for (name, side) in sides {
            guard let theirs = times[name], let ours = times[StoredParts.name] else { continue }
            Figures.keep(kind.rawValue, of: side, bytes: plan.largeBytes, .time(theirs))
            if side == .coffer { continue }
            let ratio = theirs.ratios(to: ours)
            Figures.keep("\(kind.rawValue) to \(side.rawValue)", bytes: plan.largeBytes, .ratio(ratio))
        }
    }
}

private enum PartsKind: String, CaseIterable {
    case read = "random read"
    case write = "random write"
    case syncedWrite = "random write, sync at the end"
}

/// A client with an open large file.
private protocol PartsContestant {
    static var name: String { get }

    /// Reads and writes parts at some offsets.
    ///
    /// - Returns: The total time in milliseconds.
    func measure(_ offsets: [Int64]) throws -> [PartsKind: Double]
}

extension PartsContestant {
    fileprivate var name: String { Self.name }
}

private let partBytes = 4 << 10

/// A file of the vault, through a handle.
private struct StoredParts: PartsContestant {
    static let name = "coffer"
    static let storedName = "large"
    private let connection: BenchmarkConnection
    private let handle: JSONValue

    init(_ vault: FilesVault, _ source: String) throws {
        try vault.put(Self.storedName, from: source)
        connection = try vault.daemon.connect()
        let opened = try connection.call("file.open", ["name": .string(Self.storedName), "access": "readWrite"])
        guard let handle = opened["handle"] else { throw CofferError(.protocolViolation, "file.open names no handle") }
        self.handle = handle
    }

    func measure(_ offsets: [Int64]) throws -> [PartsKind: Double] {
        let bytes = [UInt8](repeating: 5, count: partBytes)
        let reads = offsets.map { offset in
            BenchmarkConnection.frame(
                "file.read",
                ["handle": handle, "offset": .integer(offset), "length": .integer(Int64(partBytes))],
                []
            )
        }
        let writes = offsets.map { offset in
            BenchmarkConnection.frame("file.write", ["handle": handle, "offset": .integer(offset)], bytes)
        }
        let readTime = try milliseconds { try send(reads) }
        let writeTime = try milliseconds { try send(writes) }
        let syncTime = try milliseconds { try connection.call("file.sync", ["handle": handle]) }
        return [.read: readTime, .write: writeTime, .syncedWrite: writeTime + syncTime]
    }

    private func send(_ frames: [[UInt8]]) throws {
        for frame in frames {
            try connection.send(frame)
            _ = try connection.answer()
        }
    }
}

/// Reads and writes parts of a file by its path.
private func measureFile(_ file: PlainFile, _ offsets: [Int64]) throws -> [PartsKind: Double] {
    var buffer = [UInt8](repeating: 5, count: partBytes)
    let readTime = try milliseconds { for offset in offsets { try file.read(into: &buffer, at: offset) } }
    let writeTime = try milliseconds { for offset in offsets { try file.write(buffer, at: offset) } }
    let syncTime = try milliseconds { try file.synchronize() }
    return [.read: readTime, .write: writeTime, .syncedWrite: writeTime + syncTime]
}

/// An unencrypted file.
private struct PlainParts: PartsContestant {
    static let name = "plain"
    private let file: PlainFile

    init(_ path: String) throws { file = try PlainFile(path, O_RDWR) }

    func measure(_ offsets: [Int64]) throws -> [PartsKind: Double] { try measureFile(file, offsets) }
}

/// The chunks of the parts, decrypted from memory.
private struct OpenedChunks: PartsContestant {
    static let name = "chunk"
    private let bench: CipherBench

    init() throws { bench = try CipherBench() }

    func measure(_ offsets: [Int64]) throws -> [PartsKind: Double] {
        [.read: try milliseconds { for _ in offsets { try bench.open() } }]
    }
}

/// A file in gocryptfs.
private struct EncryptedParts: PartsContestant {
    static let name = "gocryptfs"
    private let file: PlainFile

    init(_ directory: EncryptedDirectory, _ source: String) throws {
        let path = "\(directory.path)/large"
        try Command.run("/bin/cp", [source, path])
        file = try PlainFile(path, O_RDWR)
    }

    func measure(_ offsets: [Int64]) throws -> [PartsKind: Double] {
        // A read from the page cache would measure nothing.
        try file.synchronize()
        file.forgetCached()
        return try measureFile(file, offsets)
    }
}
