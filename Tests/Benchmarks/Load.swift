import CBenchmarks
import CofferCore
import CofferWire

/// A request that is made again and again, for another item each time.
///
/// Its digits after `site-` and `user-` identify the item; everything else is prepared beforehand.
struct LoadRequest {
    /// The bytes of the secrets that the benchmarks keep.
    static let secretBytes = 32
    /// How an item is called: the account, and the service that ten items share.
    static let account = "user-0000000@example.net"
    static let service = "site-000000.example.org"
    private static let itemsPerService: Int32 = 10

    fileprivate let frame: [UInt8]
    fileprivate let places: [bench_place]
    fileprivate let answerPayloadBytes: Int

    /// - Parameters:
    ///   - method: What is asked.
    ///   - params: With ``account``, and perhaps ``service``, somewhere in them.
    ///   - payload: What goes along.
    ///   - answerPayloadBytes: What every answer has to bring.
    init(_ method: String, _ params: JSONObject, payload: [UInt8] = [], answerPayloadBytes: Int = 0) {
        frame = BenchmarkConnection.frame(method, params, payload)
        places =
            Self.places(of: "site-", digits: 6, divisor: Self.itemsPerService, in: frame)
            + Self.places(of: "user-", digits: 7, divisor: 1, in: frame)
        self.answerPayloadBytes = answerPayloadBytes
    }

    private static func places(of mark: String, digits: Int32, divisor: Int32, in frame: [UInt8]) -> [bench_place] {
        frame.indices.filter { frame[$0...].starts(with: mark.utf8) }
            .map { bench_place(offset: $0 + mark.utf8.count, width: digits, divisor: divisor) }
    }

    /// How items are chosen.
    enum Order {
        /// One after the other, from that one on.
        case ascending(from: Int)
        /// At random among the first so many; the number makes it another order each time.
        case random(among: Int, seed: Int)
    }

    /// Until when clients ask.
    enum End {
        case milliseconds(Double)
        case requests(Int)
    }

    /// What came of it.
    struct Outcome {
        let answerCount: Int
        /// From the first request to the last answer, in milliseconds.
        let milliseconds: Double
        /// Of one request, in milliseconds.
        let medianLatency: Double
        /// Of the slowest twentieth, at least so long.
        let lateLatency: Double

        var answersPerSecond: Double { Double(answerCount) / milliseconds * 1000 }
    }

    /// Has a number of clients make the request, each of which waits for the answer before the next.
    ///
    /// - Throws: `internal` where an answer was no result, with the answer.
    func run(at socketPath: String, clients: Int, _ order: Order, until end: End) throws -> Outcome {
        var load = bench_load()
        load.clients = Int32(clients)
        load.payload_bytes = UInt32(answerPayloadBytes)
        switch order {
        case .ascending(let first): (load.first, load.span, load.seed) = (UInt64(first), .max, 0)
        case .random(let items, let seed):
            (load.first, load.span, load.seed) = (0, UInt64(items), UInt64(seed) << 32 | 1)
        }
        switch end {
        case .milliseconds(let time): (load.nanoseconds, load.requests) = (UInt64(time * 1e6), .max)
        case .requests(let count): (load.nanoseconds, load.requests) = (1 << 62, UInt64(count))
        }
        let outcome = unsafe bench_run(socketPath, frame, frame.count, places, places.count, load)
        let trouble = unsafe withUnsafeBytes(of: outcome.trouble) { unsafe Array($0.prefix { $0 != 0 }) }
        guard trouble.isEmpty else { throw CofferError(.internal, String(decoding: trouble, as: UTF8.self)) }
        return Outcome(
            answerCount: Int(outcome.answers),
            milliseconds: Double(outcome.nanoseconds) / 1e6,
            medianLatency: Double(outcome.median) / 1e6,
            lateLatency: Double(outcome.late) / 1e6
        )
    }
}
