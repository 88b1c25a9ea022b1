internal import CofferCore
package import CofferFiles

/// A lock on a shared resource.
package enum Claim: Hashable {
    /// The content of an open file: a sync must commit what it has synced, without later changes.
    case content(ObjectIdentifier)
    /// The right to write an open file.
    case writer(ObjectIdentifier)
    /// Creating, opening and changing the keys.
    case keys
    /// One of the places for work in slices, which holds a page of results.
    case slicedWork(Int)

    package static func content(of file: OpenFile) -> Claim { .content(ObjectIdentifier(file)) }
    package static func writer(of file: OpenFile) -> Claim { .writer(ObjectIdentifier(file)) }
}

/// The claims that are held, and the requests that wait for them, in round robin over the parties.
package struct Claims {
    private struct Entry {
        /// `nil` if the holder is no request: an open handle holds the writer's claim.
        var holder: Int?
        var waiting = FairQueue()
    }

    private var entries: [Claim: Entry] = [:]
    /// Those that were released outside the request that held them.
    package var freed: [Claim] = []

    package init() {}

    /// Takes a claim, or queues for it; a request may take one again that it holds.
    ///
    /// - Parameters:
    ///   - claim: The claim.
    ///   - request: The number of the request.
    ///   - party: The tenant, for the round robin.
    /// - Returns: Whether the request holds it now.
    package mutating func take(_ claim: Claim, for request: Int, of party: Int) -> Bool {
        guard let entry = entries[claim] else {
            entries[claim] = Entry(holder: request)
            return true
        }
        if entry.holder == request { return true }
        entries[claim]?.waiting.append(request, for: party)
        return false
    }

    /// A place for work in slices that is free, or else one of those with the shortest queue.
    package func placeForSlicedWork() -> Claim {
        func queueLength(_ place: Int) -> Int { entries[.slicedWork(place)]?.waiting.count ?? -1 }
        var best = 0
        for place in 0..<Limits.slicedWorks where queueLength(place) < queueLength(best) { best = place }
        return .slicedWork(best)
    }

    package func isTaken(_ claim: Claim) -> Bool { entries[claim] != nil }

    /// Keeps a claim held beyond the end of its request, until ``release(_:)``.
    package mutating func keep(_ claim: Claim) { entries[claim]?.holder = nil }

    /// Releases a claim, and gives it to the next request that waits.
    ///
    /// - Returns: The number of that request, if there is one.
    package mutating func release(_ claim: Claim) -> Int? {
        guard let next = entries[claim]?.waiting.removeFirst()?.element else {
            entries[claim] = nil
            return nil
        }
        entries[claim]?.holder = next
        return next
    }

    /// Removes a request from all queues.
    package mutating func withdraw(_ request: Int) {
        for claim in entries.keys { entries[claim]?.waiting.removeAll { $0 == request } }
    }

    package func held(by request: Int) -> [Claim] {
        entries.isEmpty ? [] : entries.filter { $0.value.holder == request }.map(\.key)
    }

    /// All requests that wait.
    package var waiting: [Int] { entries.values.flatMap { $0.waiting.elements } }
}
