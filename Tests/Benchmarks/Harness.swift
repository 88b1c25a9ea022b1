import Foundation
import Synchronization

/// Measured values: times in milliseconds, unless stated otherwise.
struct Samples {
    private var values: [Double] = []

    mutating func add(_ value: Double) { values.append(value) }

    /// The value below which that part of the samples lies.
    func quantile(_ part: Double) -> Double {
        let sorted = values.sorted()
        guard let last = sorted.last else { return .nan }
        let place = part * Double(sorted.count - 1)
        let lower = sorted[Int(place)]
        let upper = Int(place) + 1 < sorted.count ? sorted[Int(place) + 1] : last
        return lower + (upper - lower) * (place - place.rounded(.down))
    }

    var median: Double { quantile(0.5) }
    var mean: Double { values.reduce(0, +) / Double(values.count) }

    /// The ratios to other samples, pairwise, because samples with the same index were measured together.
    func ratios(to others: Samples) -> Samples {
        var ratios = Samples()
        for (one, other) in zip(values, others.values) { ratios.add(one / other) }
        return ratios
    }

    /// The samples of each of several things that were measured together.
    func divided(by count: Int) -> Samples {
        var parts = Samples()
        for value in values { parts.add(value / Double(count)) }
        return parts
    }

    /// The middle half of the samples, relative to the median.
    var spread: Double { (quantile(0.75) - quantile(0.25)) / median }

    init() {}
    /// The union of several sets of samples.
    init(joining others: [Samples]) { values = others.flatMap(\.values) }
}

/// Measures the time of a closure in milliseconds.
func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    let duration = try ContinuousClock().measure(body)
    return Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15
}

/// Threads that do something at once.
final class Threads: Sendable {
    private let isOver = Atomic(false)
    private let failure = Mutex<(any Error)?>(nil)
    private let group = DispatchGroup()

    /// Starts them.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - repeats: Whether each begins again until ``end()``.
    ///   - body: Gets the index of its thread.
    init(_ count: Int, repeats: Bool = false, _ body: @escaping @Sendable (Int) throws -> Void) {
        for index in 0..<count {
            group.enter()
            Thread.detachNewThread { [self] in
                defer { group.leave() }
                do {
                    repeat { try body(index) } while repeats && !isOver.load(ordering: .relaxed)
                } catch {
                    failure.withLock { $0 = $0 ?? error }
                }
            }
        }
    }

    /// Waits for their ends.
    ///
    /// - Throws: The first error of one of them.
    func end() throws {
        isOver.store(true, ordering: .relaxed)
        group.wait()
        if let failure = failure.withLock(\.self) { throw failure }
    }
}

/// Measures several candidates in turns, each round beginning with another one.
///
/// A disturbance of the machine then affects all of them equally. The first round fills the caches and is not
/// counted.
///
/// - Parameters:
///   - rounds: The number of counted rounds.
///   - count: The number of candidates.
///   - body: Gets the index of a candidate, and whether the round is counted.
func interleave(rounds: Int, _ count: Int, _ body: (_ index: Int, _ counts: Bool) throws -> Void) rethrows {
    for round in 0...rounds {
        for place in 0..<count { try body((place + round) % count, round > 0) }
    }
}

/// A text table, its first column left-aligned and the others right-aligned.
struct Table {
    private var rows: [[String]]

    init(_ header: [String]) { rows = [header] }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    func printOut() {
        let columnCount = rows.map(\.count).max() ?? 0
        let widths = (0..<columnCount).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        for row in rows {
            let cells = row.enumerated().map { column, text in
                let padding = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + padding : padding + text
            }
            print(cells.joined(separator: "  "))
        }
    }
}

extension Double {
    /// With a number of decimal places.
    func formatted(_ digits: Int) -> String { String(format: "%.\(digits)f", self) }

    /// A time in milliseconds.
    var asTime: String { "\(formatted(3)) ms" }

    /// A time in milliseconds, as microseconds.
    var asShortTime: String { "\((self * 1000).formatted(1)) µs" }

    /// A ratio as a percentage.
    var asPercent: String { "\((self * 100).formatted(0)) %" }
}

extension Int {
    /// With a comma between thousands.
    var grouped: String {
        let digits = String(self)
        return digits.enumerated().map { place, digit in
            place > 0 && (digits.count - place) % 3 == 0 ? ",\(digit)" : "\(digit)"
        }.joined()
    }

    /// A size in the largest unit that it fills.
    var asBytes: String {
        for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] where self >= 1 << shift {
            return "\(self >> shift) \(unit)"
        }
        return "\(self) bytes"
    }

    /// KiB as MiB.
    var asMebibytes: String { "\((Double(self) / 1024).formatted(1)) MiB" }
}
