internal import CofferCore
package import CofferFiles

/// What one at a time may have.
package enum Claim: Hashable {
    /// Changing and syncing what is open: what is committed is what was synced, and nothing that came since.
    case content(ObjectIdentifier)
    /// Being the one who writes an open file.
    case writer(ObjectIdentifier)
    /// Making, opening and changing the keys.
    case keys

    package static func content(of file: OpenFile) -> Claim { .content(ObjectIdentifier(file)) }
    package static func writer(of file: OpenFile) -> Claim { .writer(ObjectIdentifier(file)) }
}

/// Who has what, and who waits for it: the parties take turns.
package struct Claims {
    private struct Entry {
        /// `nil` where something has it that is no request, as an open handle has the writer's place.
        var holder: Int?
        var waiting = FairQueue<Int>()
    }

    private var entries: [Claim: Entry] = [:]

    package init() {}

    /// Takes something, or queues for it.
    ///
    /// - Parameters:
    ///   - claim: What.
    ///   - request: The number of who wants it.
    ///   - party: For whom, among those who take turns.
    /// - Returns: Whether it has it now.
    package mutating func take(_ claim: Claim, for request: Int, of party: Int) -> Bool {
        if entries[claim] == nil {
            entries[claim] = Entry(holder: request)
            return true
        }
        entries[claim]?.waiting.append(request, for: party)
        return false
    }

    /// Whether somebody has it.
    package func isTaken(_ claim: Claim) -> Bool { entries[claim] != nil }

    /// Lets the holder end and keep it all the same, until ``release(_:)``.
    package mutating func keep(_ claim: Claim) { entries[claim]?.holder = nil }

    /// Gives something to who has waited longest.
    ///
    /// - Returns: Who has it now, if somebody has waited.
    package mutating func release(_ claim: Claim) -> Int? {
        guard let next = entries[claim]?.waiting.removeFirst()?.element else {
            entries[claim] = nil
            return nil
        }
        entries[claim]?.holder = next
        return next
    }

    /// Waits no longer.
    package mutating func withdraw(_ request: Int) {
        for claim in entries.keys { entries[claim]?.waiting.removeAll { $0 == request } }
    }

    /// All that a request has.
    package func held(by request: Int) -> [Claim] { entries.filter { $0.value.holder == request }.map(\.key) }

    /// All who wait.
    package var waiting: [Int] { entries.values.flatMap { $0.waiting.elements } }
}
