/// How much one party may have of what all share, so that something is left for whoever comes next.
///
/// Alone it may have three quarters, and less the more others have: it gets more as long as it holds less than three times
/// what is left. Two that take all they can get end with three sevenths each.
package enum FairShare {
    private static let multiple = 3

    /// How much more a party may take.
    ///
    /// - Parameters:
    ///   - held: What it has; at least 0.
    ///   - used: What all have together, it included.
    ///   - total: What there is.
    /// - Returns: At least 0. Who has nothing gets the last one.
    package static func left(holding held: Int, used: Int, of total: Int) -> Int {
        let free = max(0, total - used)
        if held == 0 && free > 0 { return max(1, multiple * free / (multiple + 1)) }
        return max(0, (multiple * free - held) / (multiple + 1))
    }
}

/// Those who wait, in a line for each party: the parties take turns, and within a line it goes by the order of coming.
package struct FairQueue<Element> {
    private struct Line {
        let party: Int
        var elements: [Element]
    }

    /// None is empty; the first one's turn is next.
    private var lines: [Line] = []

    /// Makes a queue in which nobody waits.
    package init() {}

    package var isEmpty: Bool { lines.isEmpty }

    /// Whether a party besides this one waits.
    package func has(otherThan party: Int) -> Bool { lines.contains { $0.party != party } }

    /// All who wait.
    package var elements: [Element] { lines.flatMap(\.elements) }

    /// Lets one more wait.
    ///
    /// - Parameters:
    ///   - element: Who waits.
    ///   - party: Whose it is.
    package mutating func append(_ element: Element, for party: Int) {
        if let index = lines.firstIndex(where: { $0.party == party }) {
            lines[index].elements.append(element)
        } else {
            lines.append(Line(party: party, elements: [element]))
        }
    }

    /// Takes the next one out.
    ///
    /// - Parameter mayGo: Whether it may be one of a party's.
    /// - Returns: `nil` where nobody waits that may go.
    package mutating func removeFirst(
        where mayGo: (_ party: Int) -> Bool = { _ in true }
    ) -> (element: Element, party: Int)? {
        guard let index = lines.firstIndex(where: { mayGo($0.party) }) else { return nil }
        var line = lines.remove(at: index)
        let element = line.elements.removeFirst()
        if !line.elements.isEmpty { lines.append(line) }
        return (element, line.party)
    }

    /// Takes some out who wait no longer.
    ///
    /// - Parameter isGone: Whether it is one of them.
    package mutating func removeAll(where isGone: (Element) -> Bool) {
        for index in lines.indices { lines[index].elements.removeAll(where: isGone) }
        lines.removeAll(where: \.elements.isEmpty)
    }
}
