import CofferClient
import CofferImportExport
import Testing

/// What an import is going to store.
@Suite struct ImportPlanTests {
    private func login(_ title: String, password: String, at line: Int = 1) throws -> ExchangeEntry {
        var entry = ExchangeEntry(place: "line \(line)")
        entry.title = title
        try entry.add(ExchangeEntry.password, try Secret(exposed: password))
        return entry
    }

    private func credential(_ account: String, password: String, domain: String = "") throws -> ExchangeEntry {
        var entry = try login("", password: password)
        entry.server = ExchangeEntry.Server(url: "https://host/", account: account, domain: domain)
        return entry
    }

    private func names(_ entries: [ExchangeEntry], below prefix: ItemName? = nil) throws -> [String] {
        try ImportPlan(entries, below: prefix).items.map(\.name)
    }

    @Test func `a credential that the file has twice is stored once, and the second password of one user is named`()
        throws
    {
        let same = [try credential("me", password: "a"), try credential("me", password: "a")]
        #expect(try names(same) == ["login:me@host"])
        let other = try ImportPlan(
            [try credential("me", password: "a"), try credential("me", password: "b")],
            below: nil
        )
        #expect(other.items.map { $0.content.exposeText() } == ["a"])
        #expect(other.omissions.map(\.words).first?.contains("another password for the same server and user") == true)
    }

    @Test func `one user of two domains has two passwords`() throws {
        let entries = [try credential("me", password: "a"), try credential("me", password: "b", domain: "docker")]
        #expect(try names(entries).count == 2)
    }

    @Test func `attachments of one name are numbered, and an empty one is left out`() throws {
        var entry = try login("mail", password: "a")
        for (name, content) in [("k.pem", "1"), ("k.pem", "2"), ("none", ""), ("k.pem", "3")] {
            entry.attachments.append(.init(name: name, content: try Secret(exposed: content)))
        }
        let plan = try ImportPlan([entry], below: nil)
        let items = plan.items
        #expect(plan.omissions.map(\.words) == ["line 1 'mail': the attached file 'none' is left out: it is empty"])
        #expect(items.map(\.name) == ["mail", "mail/k.pem", "mail/2-k.pem", "mail/3-k.pem"])
        #expect(items.map(\.isAttachment) == [false, true, true, true])
        #expect(items.dropFirst().map { $0.content.exposeText() } == ["1", "2", "3"])
    }

    @Test func `an entry without anything to store is no item`() throws {
        #expect(try names([ExchangeEntry(place: "line 1")]).isEmpty)
    }

    @Test func `all names are below the prefix, but not those of credentials`() throws {
        let entries = [try login("mail", password: "a"), try credential("me", password: "b")]
        #expect(try names(entries, below: try ItemName("old")) == ["old/mail", "login:me@host"])
    }

    @Test func `tags become words of one attribute, and dates its own attributes`() throws {
        var entry = try login("mail", password: "a")
        entry.tags = ["work", "two words", "", String(repeating: "x", count: 65)]
        entry.dates.created = 0
        let user = try #require(try ImportPlan([entry], below: nil).items.first).userAttributes()
        #expect(user["tags"] == "work two-words")
        #expect(user[ImportPlan.created]?.hasPrefix("1970-01-01") == true)
        #expect(user[ImportPlan.modified] == nil)
    }
}
