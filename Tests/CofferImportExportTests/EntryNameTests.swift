import CofferClient
import CofferImportExport
import Testing

/// The names under which entries are stored.
@Suite struct EntryNameTests {
    private func entry(
        _ title: String,
        folder: [String] = [],
        user: String? = nil,
        url: String? = nil
    ) throws -> ExchangeEntry {
        var entry = ExchangeEntry(place: "line 1")
        entry.title = title
        entry.folder = folder
        if let user { try entry.add("username", try Secret(exposed: user)) }
        if let url { try entry.add("url", try Secret(exposed: url)) }
        return entry
    }

    private func names(_ entries: [ExchangeEntry], below prefix: String? = nil) throws -> [String] {
        try EntryName.names(of: entries, below: try prefix.map { try ItemName($0) }).map { try $0.get().path }
    }

    @Test(
        arguments: [
            ("GitHub", "GitHub"), ("a/b", "a-b"), (" a  b ", "a b"), ("a\u{7}b\nc", "a b c"), (".", "_"), ("..", "_"),
            ("-x", "_x"), ("login:a", "login-a"), ("\u{202E}evil", "evil"), ("", "untitled"), ("\u{0}", "untitled"),
            ("日本", "日本"),
        ]
    )
    func `a title becomes a name that can be typed`(title: String, name: String) throws {
        #expect(try names([try entry(title)]) == [name])
    }

    @Test func `a long title is cut at a character`() throws {
        let name = try #require(try names([try entry(String(repeating: "é", count: 300))]).first)
        #expect(name.utf8.count == 254)
    }

    @Test func `folders are parts of the name, below the one that was asked for`() throws {
        #expect(try names([try entry("a", folder: ["x/y", "", "z"])], below: "new/b") == ["new/b/x-y/z/a"])
    }

    @Test func `entries with the same name get their user names, and at last numbers`() throws {
        let entries = [
            try entry("a", user: "nina"), try entry("a", user: "otto"), try entry("a", user: "nina"), try entry("a"),
            try entry("b"),
        ]
        #expect(try names(entries) == ["a/nina", "a/otto", "a/nina-2", "a", "b"])
    }

    @Test func `an entry without a title has the name by which git finds it`() throws {
        #expect(try names([try entry("", user: "nina", url: "https://user@github.com/login")]) == ["github.com/nina"])
    }
}
