/// The share of a common quota that one party may take, so that something is left for the next one.
///
/// A party that is alone may take three quarters, and less the more others hold: it may take more as long as it holds
/// less than three times what is left. Two parties that take all they can get end with three sevenths each.
package enum FairShare {
    private static let multiple = 3

    /// How much more a party may take.
    ///
    /// - Parameters:
    ///   - held: What the party holds; at least 0.
    ///   - used: What all parties hold together, including this one.
    ///   - total: The quota.
    /// - Returns: At least 0. A party that holds nothing gets the last unit.
    package static func left(holding held: Int, used: Int, of total: Int) -> Int {
        let free = max(0, total - used)
        if held == 0 && free > 0 { return max(1, multiple * free / (multiple + 1)) }
        return max(0, (multiple * free - held) / (multiple + 1))
    }
}

/// A round-robin queue of parties, each with its own queue in order of arrival.
///
/// Its elements are the numbers of what waits. A generic queue would look up metadata of types at each use.
package struct FairQueue {
    private struct Line {
        let party: Int
        var elements: [Int]
    }

    /// The queues, none of them empty; the first party is next.
    private var lines: [Line] = []
    /// The memory of the last queue that became empty, for the next one.
    private var spare: [Int] = []

    /// Creates an empty queue.
    package init() {}

    package var isEmpty: Bool { lines.isEmpty }

    /// The number of elements.
    package var count: Int { lines.reduce(0) { $0 + $1.elements.count } }

    /// Whether a party other than this one waits.
    package func has(otherThan party: Int) -> Bool { lines.contains { $0.party != party } }

    /// All elements.
    package var elements: [Int] { lines.flatMap { $0.elements } }

    /// Whether an element meets a condition.
    package func contains(where isWanted: (Int) -> Bool) -> Bool {
        lines.contains { $0.elements.contains(where: isWanted) }
    }

    /// Appends an element.
    ///
    /// - Parameters:
    ///   - element: The element that waits.
    ///   - party: The party that it belongs to.
    package mutating func append(_ element: Int, for party: Int) {
        if let index = lines.firstIndex(where: { $0.party == party }) {
            lines[index].elements.append(element)
        } else {
            spare.append(element)
            lines.append(Line(party: party, elements: spare))
            spare = []
        }
    }

    /// Removes the next element.
    ///
    /// - Parameter mayGo: Whether an element of a party may be removed.
    /// - Returns: `nil` if no element may be removed.
    package mutating func removeFirst(
        where mayGo: (_ party: Int) -> Bool = { _ in true }
    ) -> (element: Int, party: Int)? {
        guard let index = lines.firstIndex(where: { mayGo($0.party) }) else { return nil }
        var line = lines.remove(at: index)
        let element = line.elements.removeFirst()
        if line.elements.isEmpty { spare = line.elements } else { lines.append(line) }
        return (element, line.party)
    }

    /// Takes some out who wait no longer.
    ///
    /// - Parameter isGone: Whether it is one of them.
    package mutating func removeAll(where isGone: (Int) -> Bool) {
        for index in lines.indices { lines[index].elements.removeAll(where: isGone) }
        lines.removeAll { $0.elements.isEmpty }
    }
}
