import CBenchmarks
import CofferCore
import CofferWire

/// A request that is repeated, for another item each time.
///
/// The digits after `site-` and `user-` identify the item; everything else is prepared beforehand.
struct LoadRequest {
    /// The size of a secret in the benchmarks.
    static let secretBytes = 32
    /// The name of an item: the account, and the service, which ten items share.
    static let account = "user-0000000@example.net"
    static let service = "site-000000.example.org"
    private static let itemsPerService: Int32 = 10

    fileprivate let frame: [UInt8]
    fileprivate let places: [bench_place]
    fileprivate let answerPayloadBytes: Int

    /// Prepares a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: The parameters, which contain ``account``, and possibly ``service``.
    ///   - payload: The payload.
    ///   - answerPayloadBytes: The required size of the payload of every answer.
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

    /// The order of the items.
    enum Order {
        /// Ascending, from a first item.
        case ascending(from: Int)
        /// At random among the first items, with a seed.
        case random(among: Int, seed: Int)
    }

    /// When the clients stop.
    enum End {
        case milliseconds(Double)
        case requests(Int)
    }

    /// The result of a run.
    struct Outcome {
        let answerCount: Int
        /// From the first request to the last answer, in milliseconds.
        let milliseconds: Double
        /// The median latency in milliseconds.
        let medianLatency: Double
        /// The 95th percentile of the latency in milliseconds.
        let lateLatency: Double
        /// The daemon's processor time for a request, in milliseconds; `nil` if it was not measured.
        var processorTime: Double?

        var answersPerSecond: Double { Double(answerCount) / milliseconds * 1000 }
    }

    /// Runs a number of clients, each of which waits for an answer before its next request.
    ///
    /// - Throws: `internal` with the answer, if one was an error.
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
