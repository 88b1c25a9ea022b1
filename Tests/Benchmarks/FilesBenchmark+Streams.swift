import CofferCore
import CofferCrypto
import CofferMemory
import Foundation

extension FilesBenchmark {
    /// Stores large files and reads them back through a passed descriptor.
    static func measureStreams(_ setting: Setting, _ plan: FilesPlan) throws {
        var results = StreamResults()
        for place in try StreamPlace.all(setting, plan) {
            let vault = try FilesVault(place.setting, "streams")
            for (byteCount, rounds) in plan.streams {
                guard place.hasRoom(for: byteCount) else {
                    results.skipped.append((place.name, byteCount))
                    continue
                }
                tell("streaming \(byteCount.asBytes) \(place.name) (\(rounds) rounds) ...")
                let source = "\(place.setting.directory)/source"
                try PlainFile.make(source, byteCount: byteCount)
                let contestants = try Contestants(place, vault, source, byteCount)
                var measured = StreamMeasurement(place: place.name, byteCount: byteCount)
                try interleave(rounds: rounds, contestants.all.count) { index, counts in
                    let one = contestants.all[index]
                    let idle = try vault.daemon.memory().resident
                    vault.daemon.forgetMostMemory()
                    let times = try one.measure(checking: !counts)
                    measured.most = max(measured.most, try vault.daemon.memory().most - idle)
                    if counts { measured.add(times, of: one.name) }
                }
                results.measurements.append(measured)
                try FileManager.default.removeItem(atPath: source)
            }
            vault.daemon.stop()
            try FileManager.default.removeItem(atPath: vault.daemon.statePath)
        }
        results.printOut()
    }
}

/// The file system of a measurement.
private struct StreamPlace {
    let name: String
    /// The setting with a directory there.
    let setting: Setting

    /// The disk, and a memory file system if `packaging/bench` could make a directory on it.
    static func all(_ setting: Setting, _ plan: FilesPlan) throws -> [StreamPlace] {
        let disk = StreamPlace(name: "on disk", setting: setting)
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(setting.directory)/memory")
        else { return [disk] }
        let inMemory = Setting(daemonPath: setting.daemonPath, directory: path, effort: setting.effort)
        return [disk, StreamPlace(name: "in memory", setting: inMemory)]
    }

    /// The source, the stored content with the one that it replaces, and the output: at most four at a time.
    func hasRoom(for byteCount: Int) -> Bool {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: setting.directory)
        guard let free = attributes?[.systemFreeSize] as? NSNumber else { return true }
        return free.intValue > 4 * byteCount
    }
}

// MARK: - Who is compared

private enum ContestantName: CaseIterable {
    case coffer, age, copy, cipher

    var side: Figure.Side {
        switch self {
        case .coffer: .coffer
        case .age: .age
        case .copy: .copy
        case .cipher: .cipher
        }
    }

    /// Its name within that of a figure.
    var text: String { self == .cipher ? "the cipher" : side.rawValue }
}

/// A program that stores a file and reads it back.
private struct Contestant {
    let name: ContestantName
    /// Ends when the stored file would survive a power cut.
    let put: () throws -> Void
    let get: () throws -> Void
    /// The output; `nil` if it is not a file.
    let output: String?
    let source: String
    let cleanUp: () throws -> Void

    /// Measures one round.
    ///
    /// - Parameter checking: Whether to compare the output with the source.
    /// - Returns: The milliseconds of the put and of the get.
    func measure(checking: Bool) throws -> (put: Double, get: Double) {
        let times = (try milliseconds(put), try milliseconds(get))
        if checking, let output, !FileManager.default.contentsEqual(atPath: source, andPath: output) {
            throw CofferError(.internal, "what \(name) has read is not what was put")
        }
        // Removing unsynced data avoids its write during the next measurement.
        if let output { try FileManager.default.removeItem(atPath: output) }
        try cleanUp()
        return times
    }
}

private struct Contestants {
    let all: [Contestant]

    init(_ place: StreamPlace, _ vault: FilesVault, _ source: String, _ byteCount: Int) throws {
        let directory = place.setting.directory
        var all = [
            Self.coffer(vault, source, directory), Self.copy(source, directory), try Self.cipher(source, byteCount),
        ]
        if let age = try Self.age(source, directory) { all.append(age) }
        self.all = all
    }

    private static func coffer(_ vault: FilesVault, _ source: String, _ directory: String) -> Contestant {
        let output = "\(directory)/coffer.output"
        return Contestant(
            name: .coffer,
            put: { try vault.put("stream", from: source) },
            get: { try vault.get("stream", to: output) },
            output: output,
            source: source,
            cleanUp: { try vault.remove("stream") }
        )
    }

    private static func copy(_ source: String, _ directory: String) -> Contestant {
        let (stored, output) = ("\(directory)/cp.stored", "\(directory)/cp.output")
        // Copies through memory, as the other programs do, without sharing blocks.
        let options = ["--reflink=never", "--sparse=never"]
        return Contestant(
            name: .copy,
            put: {
                try Command.run("/bin/cp", options + [source, stored])
                try PlainFile(stored, O_RDWR).synchronize()
            },
            get: { try Command.run("/bin/cp", options + [stored, output]) },
            output: output,
            source: source,
            cleanUp: { try FileManager.default.removeItem(atPath: stored) }
        )
    }

    private static func age(_ source: String, _ directory: String) throws -> Contestant? {
        guard let age = Command.path(of: "age"), let keygen = Command.path(of: "age-keygen") else { return nil }
        let (key, recipient) = ("\(directory)/age.key", "\(directory)/age.recipient")
        if !FileManager.default.fileExists(atPath: key) {
            // Its report on standard error is not needed.
            try Command.run("/bin/sh", ["-c", "\"$0\" -o \"$1\" 2>/dev/null", keygen, key])
            try Command.run("/bin/sh", ["-c", "\"$0\" -y \"$1\" >\"$2\"", keygen, key, recipient])
        }
        let (stored, output) = ("\(directory)/age.stored", "\(directory)/age.output")
        return Contestant(
            name: .age,
            put: {
                try Command.run(age, ["--recipients-file", recipient, "--output", stored, source])
                try PlainFile(stored, O_RDWR).synchronize()
            },
            get: { try Command.run(age, ["--decrypt", "--identity", key, "--output", output, stored]) },
            output: output,
            source: source,
            cleanUp: { try FileManager.default.removeItem(atPath: stored) }
        )
    }

    /// The cipher of the file store, chunk by chunk, on data in the processor's cache.
    private static func cipher(_ source: String, _ byteCount: Int) throws -> Contestant {
        let bench = try CipherBench()
        let chunks = (byteCount + Limits.chunkBytes - 1) / Limits.chunkBytes
        return Contestant(
            name: .cipher,
            put: { for _ in 0..<chunks { bench.seal() } },
            get: { for _ in 0..<chunks { try bench.open() } },
            output: nil,
            source: source,
            cleanUp: {}
        )
    }
}

/// A chunk and the cipher of the file store.
final class CipherBench {
    private let cipher = ChunkCipher(suite: .preferred, header: [UInt8](repeating: 1, count: 32))
    private let key: SymmetricKey
    private var plaintext = [UInt8](repeating: 2, count: Limits.chunkBytes)
    private var sealed = [UInt8](repeating: 0, count: Limits.chunkBytes + CipherSuite.tagBytes)

    init() throws {
        key = try SymmetricKey()
        seal()
    }

    func seal() {
        // The span of a property ends with the access to it; a local copy of the array shares its buffer.
        let plaintext = plaintext
        unsafe sealed.withUnsafeMutableBytes {
            unsafe cipher.seal(plaintext.span.bytes, at: 1, isLast: false, under: key, into: $0)
        }
    }

    func open() throws {
        let sealed = sealed
        unsafe try plaintext.withUnsafeMutableBytes {
            unsafe try cipher.open(sealed.span.bytes, at: 1, isLast: false, under: key, into: $0)
        }
    }
}

// MARK: - The results

private struct StreamMeasurement {
    let place: String
    let byteCount: Int
    /// The peak of the memory above the value before, in KiB.
    var most = 0
    private(set) var puts: [ContestantName: Samples] = [:]
    private(set) var gets: [ContestantName: Samples] = [:]

    init(place: String, byteCount: Int) {
        self.place = place
        self.byteCount = byteCount
    }

    mutating func add(_ times: (put: Double, get: Double), of name: ContestantName) {
        puts[name, default: Samples()].add(times.put)
        gets[name, default: Samples()].add(times.get)
    }
}

private struct StreamResults {
    var measurements: [StreamMeasurement] = []
    var skipped: [(place: String, byteCount: Int)] = []

    func printOut() {
        for (word, path) in [("put", \StreamMeasurement.puts), ("get", \StreamMeasurement.gets)] {
            print("How fast is the \(word) of a file?\n")
            printRates(word, path)
            print()
        }
        for (place, byteCount) in skipped { print("\(byteCount.asBytes) \(place): no room for it, skipped") }
        if Command.path(of: "age") == nil { print("age is not installed: skipped") }
        print(
            """
            Rates to those of others are medians of rounds, of what was measured side by side; spread is the middle half of \
            them.
            The cipher is AES-256-GCM, or what Coffer takes in its place, over one chunk in memory again and again, on one \
            core. A
            put ends with a sync on all sides, a get on none.
            What is read is in the page cache. age has an X25519 recipient; age and cp are programs that are started.
            """
        )
        printMemory()
    }

    private func printRates(_ word: String, _ path: KeyPath<StreamMeasurement, [ContestantName: Samples]>) {
        var table = Table([
            word, "bytes", "to age", "spread", "to the cipher", "spread", "to cp", "spread", "MB/s", "age", "cipher",
            "cp",
        ])
        for (index, measured) in measurements.enumerated() {
            let isFirst = index == 0 || measurements[index - 1].place != measured.place
            let times = measured[keyPath: path]
            guard let ours = times[.coffer] else { continue }
            let (what, size) = ("\(word) \(measured.place)", measured.byteCount)
            func cells(_ other: ContestantName) -> [String] {
                guard let theirs = times[other] else { return ["", ""] }
                let ratio = theirs.ratios(to: ours)
                Figures.keep(what, of: other.side, bytes: size, .speed(theirs, bytes: size))
                Figures.keep("\(what) to \(other.text)", bytes: size, .ratio(ratio))
                return ratio.ratioCells
            }
            Figures.keep(what, bytes: size, .speed(ours, bytes: size))
            let rates = [ContestantName.coffer, .age, .cipher, .copy].map { name in
                times[name].map { Int(Double(measured.byteCount) / $0.median / 1000).grouped } ?? ""
            }
            table.add(
                [isFirst ? "\(word) \(measured.place)" : "", measured.byteCount.asBytes]
                    + cells(.age) + cells(.cipher) + cells(.copy) + rates
            )
        }
        table.printOut()
    }

    private func printMemory() {
        print("\nHow much memory does it take?\n")
        var table = Table(["streaming", "bytes", "most over idle"])
        for measured in measurements {
            Figures.keep(
                "memory of a transfer \(measured.place)",
                bytes: measured.byteCount,
                .kibibytes(measured.most)
            )
            table.add([measured.place, measured.byteCount.asBytes, measured.most.asMebibytes])
        }
        table.printOut()
    }
}
