import CofferCore
import Foundation

/// What programs do with files of a mounted vault, beside the same in a directory of gocryptfs on the same disk.
enum MountBenchmark: Benchmark {
    static let name = "mount"

    static func run(_ setting: Setting) throws {
        let plan = MountPlan(setting.effort)
        let vault = try MountedVault(setting)
        let encrypted = try EncryptedDirectory(setting)
        let places =
            [MountPlace(side: .coffer, path: vault.path, sealedPath: vault.statePath)]
            + (encrypted.map { [MountPlace(side: .gocryptfs, path: $0.path, sealedPath: $0.sealedPath)] } ?? [])
        var results: [MountResult] = []
        for workload in try workloads(setting, plan) {
            tell("\(workload.name) (\(plan.rounds) rounds) ...")
            results.append(try measure(workload, in: places, plan))
        }
        let busy = try vault.memory()
        try encrypted?.unmount()
        try measureBeside(vault, plan)
        try vault.unmount()
        print(results, plan, busy, hasOther: encrypted != nil)
    }

    private static func measure(
        _ workload: MountWorkload,
        in places: [MountPlace],
        _ plan: MountPlan
    ) throws -> MountResult {
        var result = MountResult(workload: workload)
        try interleave(rounds: plan.rounds, places.count) { index, counts in
            let place = places[index]
            try workload.prepare(place)
            let time = try milliseconds { try workload.run(place) }
            if counts { result.times[place.side, default: Samples()].add(time) }
        }
        return result
    }

    private static func print(
        _ results: [MountResult],
        _ plan: MountPlan,
        _ memory: Int,
        hasOther: Bool
    ) {
        Swift.print("\nHow fast are programs in a mounted vault?\n")
        var table = Table(["operation", "rate to gocryptfs", "each round", "gocryptfs", "spread", "of gocryptfs"])
        for result in results {
            result.keep()
            table.add(result.cells)
        }
        table.printOut()
        Swift.print(
            """

            \(plan.fileBytes.asBytes) written and read by 128 KiB, with a sync at the end; \(plan.parts.grouped) parts of 4 KiB \
            read at random, and \(plan.syncedParts.grouped) written with
            a sync each; \(plan.files.grouped) files extracted by tar, removed, and known to git; as many in one directory for ls; \
            \(plan.inserts.grouped) inserts by sqlite3,
            a commit each. The fastest of \(plan.rounds) rounds on each side. What is read is in the page cache of the sealed \
            files, on both sides, but for what is read from disk.
            The daemon has \(memory.asMebibytes) of memory then.
            """
        )
        Figures.keep("mount: memory of the daemon", bytes: plan.fileBytes, .kibibytes(memory))
        if !hasOther { Swift.print("gocryptfs is not installed, or /dev/fuse can't be used: skipped") }
    }
}

/// The amounts of a run.
struct MountPlan {
    let rounds: Int
    /// The size of the file that is written and read as a whole and in parts.
    let fileBytes: Int
    let parts: Int
    let syncedParts: Int
    /// The number of files of the archive, and of the directory that is listed.
    let files: Int
    let inserts: Int

    init(_ effort: Effort) {
        switch effort {
        case .check: (rounds, fileBytes, parts, syncedParts, files, inserts) = (1, 1 << 20, 16, 4, 20, 10)
        case .quick: (rounds, fileBytes, parts, syncedParts, files, inserts) = (3, 128 << 20, 1000, 100, 1000, 200)
        case .full: (rounds, fileBytes, parts, syncedParts, files, inserts) = (4, 1 << 30, 4000, 400, 10_000, 1000)
        }
    }
}

/// A directory that is measured.
struct MountPlace {
    let side: Figure.Side
    let path: String
    /// Where its sealed files are.
    let sealedPath: String
}

/// Something that programs do in a directory.
struct MountWorkload {
    let name: String
    /// The bytes that it moves; `nil` if it is counted by ``count``.
    let bytes: Int?
    let count: Int
    /// Called before each round; its time does not count.
    let prepare: (MountPlace) throws -> Void
    let run: (MountPlace) throws -> Void
}

/// The times of a workload.
private struct MountResult {
    let workload: MountWorkload
    var times: [Figure.Side: Samples] = [:]

    /// The rate to that of gocryptfs, each by its fastest round: the slower ones show what else the machine did.
    private var ratio: Double? {
        guard let ours = times[.coffer], let theirs = times[.gocryptfs] else { return nil }
        return theirs.quantile(0) / ours.quantile(0)
    }

    func keep() {
        for (side, samples) in times {
            let fastest = Samples(joining: [samples]).fastest
            if let bytes = workload.bytes {
                Figures.keep("mount: \(workload.name)", of: side, bytes: bytes, .speed(fastest, bytes: bytes))
            } else {
                let each = fastest.divided(by: workload.count)
                Figures.keep("mount: \(workload.name)", of: side, items: workload.count, .time(each))
            }
        }
        guard let ratio else { return }
        let items = workload.bytes == nil ? workload.count : nil
        Figures.keep("mount: \(workload.name) to gocryptfs", items: items, bytes: workload.bytes, .plainRatio(ratio))
    }

    var cells: [String] {
        func time(_ side: Figure.Side) -> String {
            guard let fastest = times[side]?.quantile(0) else { return "" }
            guard let bytes = workload.bytes else { return (fastest / Double(workload.count)).asShortTime }
            return "\((Double(bytes) / fastest / 1000).formatted(0)) MB/s"
        }
        func spread(_ side: Figure.Side) -> String { times[side]?.spread.asPercent ?? "" }
        return [workload.name, ratio?.formatted(2) ?? "", time(.coffer), time(.gocryptfs), spread(.coffer)]
            + [spread(.gocryptfs)]
    }
}

extension Samples {
    /// The fastest one alone.
    fileprivate var fastest: Samples {
        var samples = Samples()
        samples.add(quantile(0))
        return samples
    }
}
