import CofferCore
import Foundation

extension MountBenchmark {
    /// After that long, a file system that trusts attributes for a second asks again.
    private static let pause: UInt32 = 1_200_000

    /// The workloads, in an order in which later ones use what earlier ones have left.
    static func workloads(_ setting: Setting, _ plan: MountPlan) throws -> [MountWorkload] {
        let archive = "\(setting.directory)/archive.tar"
        let flatArchive = "\(setting.directory)/flat.tar"
        try makeArchive(archive, in: setting.directory, files: plan.files, perDirectory: 100)
        try makeArchive(flatArchive, in: setting.directory, files: plan.files, perDirectory: plan.files)
        return streams(plan) + parts(plan)
            + [untar(archive, plan), remove(archive, plan)] + git(plan) + [list(flatArchive, plan)]
            + [inserts("\(setting.directory)/inserts.sql", plan)]
    }

    // MARK: One large file

    static let bufferBytes = 128 << 10
    static let partBytes = 4 << 10

    static func largeFile(in directory: String) -> String { "\(directory)/large" }

    private static func streams(_ plan: MountPlan) -> [MountWorkload] {
        var generator = SystemRandomNumberGenerator()
        let block = (0..<bufferBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let write = MountWorkload(name: "sequential write", bytes: plan.fileBytes, count: 1) { place in
            _ = unsafe unlink(largeFile(in: place.path))
        } run: { place in
            let file = try PlainFile(largeFile(in: place.path), O_WRONLY | O_CREAT)
            for _ in 0..<(plan.fileBytes / bufferBytes) { try file.write(block) }
            try file.synchronize()
        }
        let readAll: (MountPlace) throws -> Void = { place in
            let file = try PlainFile(largeFile(in: place.path), O_RDONLY)
            var buffer = block
            for number in 0..<(plan.fileBytes / bufferBytes) {
                try file.read(into: &buffer, at: Int64(number * bufferBytes))
            }
        }
        let bytes = plan.fileBytes
        let read = MountWorkload(name: "sequential read", bytes: bytes, count: 1, prepare: forget, run: readAll)
        let readFromDisk = MountWorkload(name: "sequential read from disk", bytes: bytes, count: 1) { place in
            try forget(place)
            try forgetAll(below: place.sealedPath)
        } run: {
            try readAll($0)
        }
        return [write, read, readFromDisk]
    }

    /// Has the kernel drop what it has of the large file.
    private static func forget(_ place: MountPlace) throws {
        try PlainFile(largeFile(in: place.path), O_RDONLY).forgetCached()
    }

    /// Has the kernel drop the sealed contents, so that they are read from the disk.
    private static func forgetAll(below directory: String) throws {
        for case let path as String in FileManager.default.enumerator(atPath: directory) ?? .init() {
            (try? PlainFile("\(directory)/\(path)", O_RDONLY | O_NOFOLLOW))?.forgetCached()
        }
    }

    private static func parts(_ plan: MountPlan) -> [MountWorkload] {
        let places = (0..<(plan.fileBytes / partBytes)).shuffled().map { Int64($0 * partBytes) }
        let (read, written) = (Array(places.prefix(plan.parts)), places.prefix(plan.syncedParts))
        let reading = MountWorkload(name: "random read", bytes: nil, count: read.count, prepare: forget) { place in
            try readParts(at: read, of: place)
        }
        let threads = 4
        let readingAtOnce = MountWorkload(
            name: "random read by 4 threads",
            bytes: nil,
            count: read.count,
            prepare: forget
        ) { place in
            try Threads(threads) { thread in
                let share = stride(from: thread, to: read.count, by: threads).map { read[$0] }
                try readParts(at: share, of: place)
            }.end()
        }
        let writing = MountWorkload(name: "random write, sync", bytes: nil, count: written.count) { _ in
        } run: { place in
            let file = try PlainFile(largeFile(in: place.path), O_RDWR)
            for offset in written {
                try file.write([UInt8](repeating: 6, count: partBytes), at: offset)
                try file.synchronize()
            }
        }
        return [reading, readingAtOnce, writing]
    }

    private static func readParts(at offsets: [Int64], of place: MountPlace) throws {
        let file = try PlainFile(largeFile(in: place.path), O_RDONLY)
        posix_fadvise(file.number, 0, 0, POSIX_FADV_RANDOM)
        var buffer = [UInt8](repeating: 5, count: partBytes)
        for offset in offsets { try file.read(into: &buffer, at: offset) }
    }

    // MARK: Many files

    /// Makes an archive of a tree of small files of incompressible bytes.
    private static func makeArchive(
        _ path: String,
        in directory: String,
        files count: Int,
        perDirectory: Int
    ) throws {
        let tree = "\(directory)/tree"
        for number in 0..<count {
            let part = "\(tree)/\(number / perDirectory)"
            if number.isMultiple(of: perDirectory) {
                try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: true)
            }
            let bytes = (0..<Int.random(in: 100...1000)).map { _ in UInt64.random(in: 0...UInt64.max) }
            let data = unsafe bytes.withUnsafeBytes { unsafe Data($0) }
            try data.write(to: URL(filePath: "\(part)/file\(number)"))
        }
        try Command.run("/usr/bin/env", ["tar", "-cf", path, "-C", directory, "tree"])
        try FileManager.default.removeItem(atPath: tree)
    }

    /// The tree of the round before stays: a file system that still removes it would be slower.
    private static func untar(_ archive: String, _ plan: MountPlan) -> MountWorkload {
        MountWorkload(name: "untar", bytes: nil, count: plan.files) { place in
            let tree = "\(place.path)/tree"
            guard unsafe access(tree, F_OK) == 0 else { return }
            try FileManager.default.moveItem(atPath: tree, toPath: tree + "-\(UInt32.random(in: 0...UInt32.max))")
        } run: { place in
            try Command.run("/usr/bin/env", ["tar", "-xf", archive, "-C", place.path])
        }
    }

    private static func remove(_ archive: String, _ plan: MountPlan) -> MountWorkload {
        MountWorkload(name: "rm -r", bytes: nil, count: plan.files) { place in
            let doomed = "\(place.path)/doomed"
            let former = try FileManager.default.contentsOfDirectory(atPath: place.path).first { $0.hasPrefix("tree-") }
            if let former {
                try FileManager.default.moveItem(atPath: "\(place.path)/\(former)", toPath: doomed)
            } else {
                try FileManager.default.createDirectory(atPath: doomed, withIntermediateDirectories: false)
                try Command.run("/usr/bin/env", ["tar", "-xf", archive, "-C", doomed])
            }
        } run: { place in
            try Command.run("/usr/bin/env", ["rm", "-r", "\(place.path)/doomed"])
        }
    }

    /// `git status` after a pause, and again at once.
    private static func git(_ plan: MountPlan) -> [MountWorkload] {
        let status: (MountPlace) throws -> Void = { place in
            try Command.run("/usr/bin/env", ["git", "-C", "\(place.path)/tree", "status"], discardsOutput: true)
        }
        let first = MountWorkload(name: "git status", bytes: nil, count: plan.files) { place in
            if unsafe access("\(place.path)/tree/.git/index", F_OK) != 0 { try makeRepository("\(place.path)/tree") }
            usleep(pause)
        } run: {
            try status($0)
        }
        let again = MountWorkload(name: "git status again", bytes: nil, count: plan.files, prepare: status, run: status)
        return [first, again]
    }

    private static func makeRepository(_ tree: String) throws {
        try Command.run("/usr/bin/env", ["git", "init", "--quiet", tree])
        // All objects go into one pack, which takes less time than a file for each.
        let options = ["-c", "core.bigFileThreshold=1", "-c", "gc.auto=0"]
        try Command.run("/usr/bin/env", ["git", "-C", tree] + options + ["add", "."])
        // The index is newer than the files then, so that git trusts their times.
        usleep(pause)
        try Command.run("/usr/bin/env", ["git", "-C", tree, "update-index", "--refresh"])
    }

    private static func list(_ archive: String, _ plan: MountPlan) -> MountWorkload {
        MountWorkload(name: "ls -l", bytes: nil, count: plan.files) { place in
            let flat = "\(place.path)/flat"
            if unsafe access(flat, F_OK) != 0 {
                try FileManager.default.createDirectory(atPath: flat, withIntermediateDirectories: false)
                try Command.run("/usr/bin/env", ["tar", "-xf", archive, "-C", flat])
            }
            usleep(pause)
        } run: { place in
            try Command.run("/usr/bin/env", ["ls", "-l", "\(place.path)/flat/tree/0"], discardsOutput: true)
        }
    }

    // MARK: A database

    private static func inserts(_ script: String, _ plan: MountPlan) -> MountWorkload {
        let text = "a row of a usual length, so that a page holds some tens of them"
        return MountWorkload(name: "SQLite inserts in WAL mode", bytes: nil, count: plan.inserts) { _ in
            var lines = ["PRAGMA journal_mode = WAL;", "PRAGMA synchronous = FULL;"]
            lines.append("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, text TEXT);")
            lines += (0..<plan.inserts).map { "INSERT INTO t (text) VALUES ('\(text) \($0)');" }
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: script))
        } run: { place in
            let words = ["sqlite3", "\(place.path)/base.db", ".read \(script)"]
            try Command.run("/usr/bin/env", words, discardsOutput: true)
        }
    }
}
