import CofferMount
import Testing

/// What the daemon has said a moment ago.
@Suite struct RecentAnswersTests {
    private let answers = RecentAnswers()
    private let name = FileName("a")

    private func attributes(_ number: UInt64 = 7, _ kind: Attributes.Kind = .file, at time: Int64 = 0) -> Attributes {
        var attributes = Attributes.root(at: time)
        (attributes.number, attributes.kind) = (number, kind)
        return attributes
    }

    private func advice(_ name: FileName? = nil, in parent: UInt64 = 1) -> RecentAnswers.Advice {
        answers.advice(for: name ?? self.name, in: parent, believing: 1)
    }

    /// Looks the name up until the listing is advised.
    private func ticket(in parent: UInt64 = 1) throws -> RecentAnswers.Ticket {
        for _ in 0..<100 { if case .list = advice(in: parent) { return answers.ticket() } }
        throw NoTicket()
    }

    private struct NoTicket: Error {}

    private func keep(
        _ entries: [(FileName, Attributes)],
        isWhole: Bool,
        of parent: UInt64,
        since ticket: RecentAnswers.Ticket
    ) {
        let entries = entries.map { DirectoryListing.Entry(name: $0.0, attributes: $0.1) }
        answers.keep(entries, isWhole: isWhole, of: parent, since: ticket)
    }

    private func isFound(in parent: UInt64 = 1) -> Bool { if case .found = advice(in: parent) { true } else { false } }

    private func isMissing(_ name: String) -> Bool {
        if case .missing = advice(FileName(name)) { true } else { false }
    }

    @Test func `a directory is listed after a few look-ups, once`() throws {
        if case .ask = advice() {} else { Issue.record("the first one lists") }
        _ = try ticket()
        for _ in 0..<100 { if case .ask = advice() {} else { Issue.record("it is listed twice") } }
    }

    @Test func `what was listed is found, for no longer than it is believed`() throws {
        keep([(name, attributes())], isWhole: true, of: 1, since: try ticket())
        guard case .found(let found) = advice() else { throw NoTicket() }
        #expect(found.attributes == attributes())
        #expect(found.validity > 0 && found.validity <= 1)
        #expect(!isFound(in: 2))
        #expect(answers.attributes(of: 7, believing: 1)?.attributes == attributes())
        #expect(answers.attributes(of: 7, believing: 0) == nil)
    }

    @Test(arguments: [true, false])
    func `a name that was not listed is missing if the listing is whole, and else is asked for`(isWhole: Bool) throws {
        keep([], isWhole: isWhole, of: 1, since: try ticket())
        #expect(!isFound())
        #expect(isMissing("a") == isWhole)
    }

    @Test func `a directory is listed by what is known of all of its entries`() throws {
        let since = answers.ticket()
        keep([(name, attributes()), (FileName("b"), attributes(8))], isWhole: true, of: 1, since: since)
        keep([(name, attributes())], isWhole: false, of: 2, since: since)
        let listing = try #require(answers.listing(of: 1, believing: 60))
        #expect(
            Dictionary(uniqueKeysWithValues: listing.entries.map { ($0.name, $0.attributes.number) }) == [
                name: 7, FileName("b"): 8,
            ]
        )
        #expect(listing.validity > 59 && listing.validity <= 60)
        #expect(answers.listing(of: 1, believing: 0) == nil)
        #expect(answers.listing(of: 2, believing: 60) == nil)
        #expect(answers.listing(of: 3, believing: 60) == nil)
        // Its size is known then, and its times are not.
        answers.endWrite(of: 8, answers.beginWrite(of: 8), byteCount: 12)
        #expect(answers.listing(of: 1, believing: 60) == nil)
    }

    @Test func `of many directories the last ones are kept, and not the first`() throws {
        let since = answers.ticket()
        for number in 1...300 {
            let entries = (0..<100).map { (FileName("f\($0)"), attributes(UInt64(number * 100 + $0))) }
            keep(entries, isWhole: true, of: UInt64(number), since: since)
        }
        #expect(answers.listing(of: 1, believing: 60) == nil)
        #expect(answers.listing(of: 300, believing: 60)?.entries.count == 100)
    }

    @Test func `a change makes it forget what was listed`() throws {
        keep([(name, attributes())], isWhole: true, of: 1, since: try ticket())
        answers.forget()
        #expect(!isFound())
        #expect(!isMissing("b"))
        #expect(answers.attributes(of: 7, believing: 1) == nil)
    }

    @Test func `what a change has overtaken is not kept`() throws {
        let early = try ticket()
        answers.forget()
        keep([(name, attributes())], isWhole: true, of: 1, since: early)
        #expect(!isFound())
        let other = answers.ticket()
        _ = answers.beginChange()
        answers.keep(attributes(), since: other)
        #expect(answers.attributes(of: 7, believing: 1) == nil)
    }

    @Test func `an entry that was made is found, and a new directory has none`() throws {
        keep([], isWhole: true, of: 1, since: try ticket())
        answers.keep(attributes(1, .directory, at: 5), since: answers.ticket())
        answers.made(attributes(8, .directory, at: 9), as: FileName("d"), in: 1, since: answers.beginChange())
        answers.made(attributes(at: 10), as: name, in: 8, since: answers.beginChange())
        #expect(isFound(in: 8))
        #expect(isMissing("b"))
        if case .missing = advice(FileName("b"), in: 8) {} else { Issue.record("a new directory is not empty") }
        #expect(answers.attributes(of: 1, believing: 1)?.attributes.times.modified == 9)
        #expect(answers.attributes(of: 8, believing: 1)?.attributes.times.changed == 10)
    }

    @Test func `an entry that was removed is missing, and what else is known stays`() throws {
        let entries = [(name, attributes()), (FileName("b"), attributes(8)), (FileName("c"), attributes(7))]
        keep(entries, isWhole: true, of: 1, since: try ticket())
        answers.keep(attributes(1, .directory), since: answers.ticket())
        answers.removed(name, 7, in: 1, since: answers.beginChange())
        #expect(isMissing("a"))
        if case .found = advice(FileName("b")) {} else { Issue.record("the other file is forgotten") }
        // It has one link less, and the directory another time.
        if case .ask = advice(FileName("c")) {} else { Issue.record("the other name is believed") }
        #expect(answers.attributes(of: 1, believing: 1) == nil)
        #expect(answers.listing(of: 1, believing: 60) == nil)
    }

    @Test func `a removal that something else has overtaken makes it forget everything`() throws {
        let ticket = answers.beginChange()
        answers.forget()
        keep(
            [(name, attributes()), (FileName("b"), attributes(8))],
            isWhole: true,
            of: 1,
            since: answers.ticket()
        )
        answers.removed(FileName("b"), 8, in: 1, since: ticket)
        #expect(!isFound())
        #expect(!isMissing("b"))
    }

    @Test func `what was made while something else changed is not noted, and nothing else is believed`() throws {
        keep([], isWhole: true, of: 1, since: try ticket())
        let ticket = answers.beginChange()
        answers.forget()
        keep([], isWhole: true, of: 1, since: answers.ticket())
        answers.made(attributes(), as: name, in: 1, since: ticket)
        #expect(!isFound())
        #expect(!isMissing("a"))
    }

    @Test func `a file that is written is asked for again`() throws {
        keep([(name, attributes())], isWhole: true, of: 1, since: try ticket())
        answers.endWrite(of: 7, answers.beginWrite(of: 7), byteCount: 12)
        #expect(!isFound())
        #expect(!isMissing("a"))
        #expect(answers.attributes(of: 7, believing: 1) == nil)
        answers.changed(attributes(at: 3), since: answers.beginChange())
        #expect(isFound())
    }
}
