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
            + [untar(archive, plan)] + git(plan) + [list(flatArchive, plan)]
            + [inserts("\(setting.directory)/inserts.sql", plan)]
    }

    // MARK: One large file

    private static let bufferBytes = 128 << 10
    private static let partBytes = 4 << 10

    private static func largeFile(in directory: String) -> String { "\(directory)/large" }

    private static func streams(_ plan: MountPlan) -> [MountWorkload] {
        var generator = SystemRandomNumberGenerator()
        let block = (0..<bufferBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let write = MountWorkload(name: "sequential write", bytes: plan.fileBytes, count: 1) { directory in
            _ = unsafe unlink(largeFile(in: directory))
        } run: { directory in
            let file = try PlainFile(largeFile(in: directory), O_WRONLY | O_CREAT)
            for _ in 0..<(plan.fileBytes / bufferBytes) { try file.write(block) }
            try file.synchronize()
        }
        let read = MountWorkload(name: "sequential read", bytes: plan.fileBytes, count: 1) { directory in
            try forget(largeFile(in: directory))
        } run: { directory in
            let file = try PlainFile(largeFile(in: directory), O_RDONLY)
            var buffer = block
            for number in 0..<(plan.fileBytes / bufferBytes) {
                try file.read(into: &buffer, at: Int64(number * bufferBytes))
            }
        }
        return [write, read]
    }

    private static func forget(_ path: String) throws { try PlainFile(path, O_RDONLY).forgetCached() }

    private static func parts(_ plan: MountPlan) -> [MountWorkload] {
        let places = (0..<(plan.fileBytes / partBytes)).shuffled().map { Int64($0 * partBytes) }
        let (read, written) = (places.prefix(plan.parts), places.prefix(plan.syncedParts))
        var buffer = [UInt8](repeating: 5, count: partBytes)
        let reading = MountWorkload(name: "random read", bytes: nil, count: read.count) { directory in
            try forget(largeFile(in: directory))
        } run: { directory in
            let file = try PlainFile(largeFile(in: directory), O_RDONLY)
            posix_fadvise(file.number, 0, 0, POSIX_FADV_RANDOM)
            for offset in read { try file.read(into: &buffer, at: offset) }
        }
        let writing = MountWorkload(name: "random write, sync", bytes: nil, count: written.count) { _ in
        } run: { directory in
            let file = try PlainFile(largeFile(in: directory), O_RDWR)
            for offset in written {
                try file.write([UInt8](repeating: 6, count: partBytes), at: offset)
                try file.synchronize()
            }
        }
        return [reading, writing]
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

    private static func untar(_ archive: String, _ plan: MountPlan) -> MountWorkload {
        MountWorkload(name: "untar", bytes: nil, count: plan.files) { directory in
            try Command.run("/usr/bin/env", ["rm", "-rf", "\(directory)/tree"])
        } run: { directory in
            try Command.run("/usr/bin/env", ["tar", "-xf", archive, "-C", directory])
        }
    }

    /// `git status` after a pause, and again at once.
    private static func git(_ plan: MountPlan) -> [MountWorkload] {
        let status: (String) throws -> Void = { directory in
            try Command.run("/usr/bin/env", ["git", "-C", "\(directory)/tree", "status"], discardsOutput: true)
        }
        let first = MountWorkload(name: "git status", bytes: nil, count: plan.files) { directory in
            if unsafe access("\(directory)/tree/.git/index", F_OK) != 0 { try makeRepository("\(directory)/tree") }
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
        MountWorkload(name: "ls -l", bytes: nil, count: plan.files) { directory in
            let flat = "\(directory)/flat"
            if unsafe access(flat, F_OK) != 0 {
                try FileManager.default.createDirectory(atPath: flat, withIntermediateDirectories: false)
                try Command.run("/usr/bin/env", ["tar", "-xf", archive, "-C", flat])
            }
            usleep(pause)
        } run: { directory in
            try Command.run("/usr/bin/env", ["ls", "-l", "\(directory)/flat/tree/0"], discardsOutput: true)
        }
    }

    // MARK: A database

    private static func inserts(_ script: String, _ plan: MountPlan) -> MountWorkload {
        let text = "a row of a usual length, so that a page holds some tens of them"
        return MountWorkload(name: "SQLite inserts in WAL mode", bytes: nil, count: plan.inserts) { directory in
            var lines = ["PRAGMA journal_mode = WAL;", "PRAGMA synchronous = FULL;"]
            lines.append("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, text TEXT);")
            lines += (0..<plan.inserts).map { "INSERT INTO t (text) VALUES ('\(text) \($0)');" }
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: script))
        } run: { directory in
            let words = ["sqlite3", "\(directory)/base.db", ".read \(script)"]
            try Command.run("/usr/bin/env", words, discardsOutput: true)
        }
    }
}
