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
        for _ in 0..<100 { if case .list(let ticket) = advice(in: parent) { return ticket } }
        throw NoTicket()
    }

    private struct NoTicket: Error {}

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
        answers.keep([(name, attributes())], isWhole: true, of: 1, since: try ticket())
        guard case .found(let found) = advice() else { throw NoTicket() }
        #expect(found.attributes == attributes())
        #expect(found.validity > 0 && found.validity <= 1)
        #expect(!isFound(in: 2))
        #expect(answers.attributes(of: 7, believing: 1)?.attributes == attributes())
        #expect(answers.attributes(of: 7, believing: 0) == nil)
    }

    @Test(arguments: [true, false])
    func `a name that was not listed is missing if the listing is whole, and else is asked for`(isWhole: Bool) throws {
        answers.keep([], isWhole: isWhole, of: 1, since: try ticket())
        #expect(!isFound())
        #expect(isMissing("a") == isWhole)
    }

    @Test func `a change makes it forget what was listed`() throws {
        answers.keep([(name, attributes())], isWhole: true, of: 1, since: try ticket())
        answers.forget()
        #expect(!isFound())
        #expect(!isMissing("b"))
        #expect(answers.attributes(of: 7, believing: 1) == nil)
    }

    @Test func `what a change has overtaken is not kept`() throws {
        let early = try ticket()
        answers.forget()
        answers.keep([(name, attributes())], isWhole: true, of: 1, since: early)
        #expect(!isFound())
        let other = answers.ticket()
        _ = answers.beginChange()
        answers.keep(attributes(), since: other)
        #expect(answers.attributes(of: 7, believing: 1) == nil)
    }

    @Test func `an entry that was made is found, and a new directory has none`() throws {
        answers.keep([], isWhole: true, of: 1, since: try ticket())
        answers.keep(attributes(1, .directory, at: 5), since: answers.ticket())
        answers.made(attributes(8, .directory, at: 9), as: FileName("d"), in: 1, since: answers.beginChange())
        answers.made(attributes(at: 10), as: name, in: 8, since: answers.beginChange())
        #expect(isFound(in: 8))
        #expect(isMissing("b"))
        if case .missing = advice(FileName("b"), in: 8) {} else { Issue.record("a new directory is not empty") }
        #expect(answers.attributes(of: 1, believing: 1)?.attributes.modified == 9)
        #expect(answers.attributes(of: 8, believing: 1)?.attributes.changed == 10)
    }

    @Test func `what was made while something else changed is not noted, and nothing else is believed`() throws {
        answers.keep([], isWhole: true, of: 1, since: try ticket())
        let ticket = answers.beginChange()
        answers.forget()
        answers.keep([], isWhole: true, of: 1, since: answers.ticket())
        answers.made(attributes(), as: name, in: 1, since: ticket)
        #expect(!isFound())
        #expect(!isMissing("a"))
    }

    @Test func `a file that is written is asked for again`() throws {
        answers.keep([(name, attributes())], isWhole: true, of: 1, since: try ticket())
        answers.endWrite(of: 7, answers.beginWrite(of: 7), byteCount: 12)
        #expect(!isFound())
        #expect(!isMissing("a"))
        #expect(answers.attributes(of: 7, believing: 1) == nil)
        answers.changed(attributes(at: 3), since: answers.beginChange())
        #expect(isFound())
    }
}
