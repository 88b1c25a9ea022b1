import CofferMount
import Synchronization
import Testing

/// Listings that are taken page by page.
@Suite struct DirectoryListingTests {
    /// A directory whose pages have three entries.
    private final class Directory: Sendable {
        private let names: Mutex<[String]>
        let fetches = Mutex<[String?]>([])

        init(_ count: Int) { names = Mutex((0..<count).map { "f\($0)" }) }

        func remove(_ name: String) { names.withLock { $0.removeAll { $0 == name } } }

        func add(_ name: String) { names.withLock { $0.append(name) } }

        /// The page after a name.
        func page(_ cursor: String?) -> DirectoryListing.Page {
            fetches.withLock { $0.append(cursor) }
            let rest = names.withLock { names in
                guard let cursor, let number = Int(cursor) else { return names }
                return names.filter { Int($0.dropFirst()) ?? 0 > number }
            }
            let entries = rest.prefix(3).map { name in
                DirectoryListing.Entry(name: FileName(name), attributes: .root(at: 0))
            }
            return (entries, rest.count > 3 ? entries.last.map { String($0.name.text.dropFirst()) } : nil)
        }

        var listing: DirectoryListing {
            DirectoryListing { [self] (cursor) throws(Errno) in page(cursor) }
        }
    }

    private func name(_ listing: DirectoryListing, _ place: Int) throws -> String {
        switch try listing.entry(at: place) {
        case .entry(let entry): entry.name.text
        case .removed: "removed"
        case .end: "end"
        }
    }

    @Test func `pages are taken when they are read, each once`() throws {
        let directory = Directory(8)
        let listing = directory.listing
        try listing.begin()
        #expect(directory.fetches.withLock(\.count) == 1)
        try listing.begin()
        #expect(try (0..<9).map { try name(listing, $0) } == (0..<8).map { "f\($0)" } + ["end"])
        #expect(directory.fetches.withLock { $0 } == [nil, "2", "5"])
    }

    @Test func `a place that is sought again has its entry, and none that was removed`() throws {
        let directory = Directory(12)
        let listing = directory.listing
        try listing.begin()
        _ = try (0..<12).map { try name(listing, $0) }
        directory.remove("f1")
        directory.remove("f4")
        #expect(try (0..<6).map { try name(listing, $0) } == ["f0", "removed", "f2", "f3", "removed", "f5"])
        #expect(try name(listing, 11) == "f11")
    }

    @Test func `a listing that is known is not taken again before it is rewound`() throws {
        let directory = Directory(2)
        let listing = directory.listing
        let known = ["f1", "f0"].map { DirectoryListing.Entry(name: FileName($0), attributes: .root(at: 0)) }
        #expect(listing.validity(believing: 60) == 60)
        listing.begin(with: known, validity: 10)
        try listing.begin()
        #expect(try (0..<3).map { try name(listing, $0) } == ["f1", "f0", "end"])
        #expect(directory.fetches.withLock(\.count) == 0)
        #expect(listing.validity(believing: 60) <= 10)
        #expect(listing.validity(believing: 1) == 1)
        try listing.begin()
        #expect(try (0..<3).map { try name(listing, $0) } == ["f0", "f1", "end"])
        #expect(listing.validity(believing: 60) == 60)
    }

    @Test func `rewinding takes what is new`() throws {
        let directory = Directory(2)
        let listing = directory.listing
        try listing.begin()
        #expect(try name(listing, 2) == "end")
        directory.add("f2")
        #expect(try name(listing, 2) == "end")
        try listing.begin()
        #expect(try name(listing, 2) == "f2")
    }
}
