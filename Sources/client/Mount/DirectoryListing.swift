internal import CofferCore
internal import Synchronization

/// The entries of a directory that a program has open: the place of an entry is its cookie, and stays until the program
/// rewinds the directory.
///
/// At most two pages of the daemon are in memory, and four bytes of each other entry.
package final class DirectoryListing: Sendable {
    package struct Entry: Sendable {
        package let name: FileName
        package let attributes: Attributes

        package init(name: FileName, attributes: Attributes) {
            self.name = name
            self.attributes = attributes
        }

        /// A mark by which it is found again in a page.
        fileprivate var mark: UInt32 { UInt32(truncatingIfNeeded: name.hashValue) }
    }

    /// Entries of the daemon, and where the next ones begin; `nil` if there are none.
    package typealias Page = (entries: [Entry], next: String?)

    /// What is found at a place.
    package enum Found: Sendable {
        case entry(Entry)
        /// It was removed since the program has read it.
        case removed
        case end
    }

    private struct State {
        /// Where each page begins that was taken, with a mark of each of its entries.
        var pages: [(cursor: String?, first: Int, marks: [UInt32])] = []
        /// Where the next page begins, if ``isComplete`` is false.
        var next: String?
        var isComplete = false
        /// The entries of the pages taken last, by their number.
        var held: [(page: Int, entries: [Entry?])] = []
        /// Whether a program has read from it.
        var isBegun = false
        /// Until when its entries may be believed, if that is not as long as of a new answer.
        var expiry: ContinuousClock.Instant?
    }

    private let fetch: @Sendable (String?) throws(Errno) -> Page
    private let state = Mutex(State())

    /// - Parameter fetch: Takes the entries from a place on; `nil` for the first ones.
    package init(_ fetch: @escaping @Sendable (String?) throws(Errno) -> Page) { self.fetch = fetch }

    /// Begins to list, and takes what is new if a program has read from it before.
    package func begin() throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            if state.isBegun { state = State() }
            if state.pages.isEmpty { try take(&state) }
        }
    }

    /// Begins to list by what is known.
    ///
    /// - Parameters:
    ///   - entries: All entries.
    ///   - validity: How long they may be believed, in seconds.
    package func begin(with entries: [Entry], validity: Double) {
        state.withLock { state in
            state.pages = [(nil, 0, entries.map(\.mark))]
            hold(entries, as: 0, &state)
            state.isComplete = true
            state.expiry = .now + .seconds(validity)
        }
    }

    /// How long its entries may be believed, in seconds.
    ///
    /// - Parameter span: How long a new answer may be.
    package func validity(believing span: Double) -> Double {
        guard let expiry = state.withLock({ $0.expiry }) else { return span }
        return max(0, min(span, ContinuousClock.now.duration(to: expiry) / .seconds(1)))
    }

    /// The entry at a place, from 0 on.
    package func entry(at place: Int) throws(Errno) -> Found {
        try state.withLock { (state) throws(Errno) in
            state.isBegun = true
            while place >= (state.pages.last.map { $0.first + $0.marks.count } ?? 0) {
                if state.isComplete { return .end }
                try take(&state)
            }
            let page = state.pages.lastIndex { $0.first <= place } ?? 0
            return try entries(of: page, &state)[place - state.pages[page].first].map { .entry($0) } ?? .removed
        }
    }

    /// Takes the next page.
    private func take(_ state: inout State) throws(Errno) {
        let cursor = state.next
        let page = try fetch(cursor)
        let first = state.pages.last.map { $0.first + $0.marks.count } ?? 0
        state.pages.append((cursor, first, page.entries.map(\.mark)))
        hold(page.entries, as: state.pages.count - 1, &state)
        (state.next, state.isComplete) = (page.next, page.next == nil)
    }

    /// The entries of a page, taken again if it is not held: some may have been removed meanwhile.
    private func entries(of page: Int, _ state: inout State) throws(Errno) -> [Entry?] {
        if let held = state.held.first(where: { $0.page == page }) { return held.entries }
        var found = try fetch(state.pages[page].cursor).entries[...]
        let entries = state.pages[page].marks.map { mark -> Entry? in
            guard let index = found.firstIndex(where: { $0.mark == mark }) else { return nil }
            defer { found = found[(index + 1)...] }
            return found[index]
        }
        hold(entries, as: page, &state)
        return entries
    }

    private func hold(_ entries: [Entry?], as page: Int, _ state: inout State) {
        if state.held.count == Limits.listingPagesHeld { state.held.removeFirst() }
        state.held.append((page, entries))
    }
}
