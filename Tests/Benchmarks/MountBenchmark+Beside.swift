import CofferCore
import CofferWire
import Foundation

// One use of a mounted vault beside another: who asks for little must not wait for who asks for much.
extension MountBenchmark {
    /// Measures each alone and beside the other, and keeps the ratios of the medians.
    static func measureBeside(_ vault: MountedVault, _ plan: MountPlan) throws {
        tell("small reads beside a large one, and gets beside reads (\(plan.rounds) rounds) ...")
        let (large, small) = (largeFile(in: vault.path), "\(vault.path)/small")
        try PlainFile.make(small, byteCount: min(plan.fileBytes, 64 << 20))
        let client = try vault.connect()
        try client.call("item.put", ["name": "token", "store": "keychain"], payload: Array("a secret".utf8))
        let reads: () throws -> Samples = { try times(of: plan.parts, readingPartsOf: small) }
        let gets: () throws -> Samples = {
            var times = Samples()
            for _ in 0..<plan.parts {
                times.add(try milliseconds { try client.call("item.get", ["name": "token"]) })
            }
            return times
        }
        let readLarge: @Sendable () throws -> Void = { try readAll(large) }
        let readParts: @Sendable () throws -> Void = { _ = try times(of: plan.parts, readingPartsOf: large) }
        let socketPath = vault.socketPath
        let getOften: @Sendable () throws -> Void = {
            let client = try BenchmarkConnection(to: socketPath)
            for _ in 0..<1000 { try client.call("item.get", ["name": "token"]) }
        }
        var table = Table(["what waits", "beside", "alone", "beside it", "ratio"])
        try compare("small reads", reads, "a large one", 1, readLarge, plan, &table)
        try compare("item.get", gets, "four readers", 4, readParts, plan, &table)
        try compare("small reads", reads, "eight clients", 8, getOften, plan, &table)
        print("\nDoes one use of a mounted vault wait for another?\n")
        table.printOut()
    }

    private static func compare(
        _ what: String,
        _ measure: () throws -> Samples,
        _ others: String,
        _ count: Int,
        _ busy: @escaping @Sendable () throws -> Void,
        _ plan: MountPlan,
        _ table: inout Table
    ) throws {
        var (alone, beside) = (Samples(), Samples())
        for _ in 0..<plan.rounds {
            alone.add(try measure().median)
            beside.add(try repeating(busy, on: count, measure).median)
        }
        let ratio = beside.median / alone.median
        Figures.keep("mount: \(what) beside \(others) to alone", .plainRatio(ratio))
        table.add([what, others, alone.median.asShortTime, beside.median.asShortTime, ratio.formatted(1)])
    }

    /// The times of reads of parts of a file, none of which is in the kernel's cache.
    private static func times(of count: Int, readingPartsOf path: String) throws -> Samples {
        let file = try PlainFile(path, O_RDONLY)
        file.forgetCached()
        var buffer = [UInt8](repeating: 0, count: partBytes)
        var times = Samples()
        let places = (0..<(file.byteCount / partBytes)).shuffled().prefix(count)
        for place in places {
            times.add(try milliseconds { try file.read(into: &buffer, at: Int64(place * partBytes)) })
        }
        return times
    }

    private static func readAll(_ path: String) throws {
        try PlainFile(path, O_RDONLY).forgetCached()
        let file = try PlainFile(path, O_RDONLY)
        var buffer = [UInt8](repeating: 0, count: bufferBytes)
        for number in 0..<(file.byteCount / bufferBytes) {
            try file.read(into: &buffer, at: Int64(number * bufferBytes))
        }
    }
}

/// Calls a closure while others do something again and again.
///
/// - Parameters:
///   - busy: What they do.
///   - count: How many do it, each on a thread of its own.
private func repeating<Value>(
    _ busy: @escaping @Sendable () throws -> Void,
    on count: Int,
    _ body: () throws -> Value
) throws -> Value {
    let threads = Threads(count, repeats: true) { _ in try busy() }
    // After this time, all of them are at work.
    usleep(50_000)
    let value = Result { try body() }
    try threads.end()
    return try value.get()
}
