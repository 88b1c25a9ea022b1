import CofferMount
import Testing

/// Directories in which a program looks at one file after the other.
@Suite struct RecentListingsTests {
    private let listings = RecentListings()
    private let name = FileName("a")

    private var attributes: Attributes {
        var attributes = Attributes.root(at: 0)
        attributes.number = 7
        return attributes
    }

    /// Looks the name up until the listing is advised.
    private func ticket(in parent: UInt64 = 1) throws -> RecentListings.Ticket {
        for _ in 0..<100 { if case .list(let ticket) = listings.advice(for: name, in: parent) { return ticket } }
        throw NoTicket()
    }

    private struct NoTicket: Error {}

    private func isFound(in parent: UInt64 = 1) -> Bool {
        if case .found = listings.advice(for: name, in: parent) { true } else { false }
    }

    @Test func `a directory is listed after a few look-ups, once`() throws {
        if case .ask = listings.advice(for: name, in: 1) {} else { Issue.record("the first one lists") }
        _ = try ticket()
        for _ in 0..<100 {
            if case .ask = listings.advice(for: name, in: 1) {} else { Issue.record("it is listed twice") }
        }
    }

    @Test func `what was listed is found, for no longer than a second`() throws {
        listings.keep([name: attributes], of: 1, since: try ticket())
        guard case .found(let found) = listings.advice(for: name, in: 1) else { throw NoTicket() }
        #expect(found.attributes == attributes)
        #expect(found.validity > 0 && found.validity <= 1)
        #expect(!isFound(in: 2))
    }

    @Test func `a name that was not listed is asked for`() throws {
        listings.keep([:], of: 1, since: try ticket())
        #expect(!isFound())
    }

    @Test func `a change makes it forget what was listed`() throws {
        listings.keep([name: attributes], of: 1, since: try ticket())
        listings.forget()
        #expect(!isFound())
    }

    @Test func `a listing that a change has overtaken is not kept`() throws {
        let ticket = try ticket()
        listings.forget()
        listings.keep([name: attributes], of: 1, since: ticket)
        #expect(!isFound())
    }
}
