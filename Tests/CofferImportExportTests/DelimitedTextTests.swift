import CofferClient
import CofferImportExport
import Testing

/// What is refused in a CSV file, and by which line.
@Suite struct CSVImportTests {
    private func list(_ text: String) throws -> ExchangeList {
        try ImportFormat.csv.entries(of: try Secret(exposed: text))
    }

    private func entries(_ text: String) throws -> [ExchangeEntry] { try list(text).entries }

    @Test(
        arguments: [
            ("", "the file is empty"),
            ("name,password\na,\"b\n", "line 2: a quote is opened and never closed"),
            ("name,password\na,b\"c\n", "line 2: a quote stands inside a value"),
            ("name,password\n\"a\"b,c\n", "line 2: text follows a closing quote"),
            ("name,password\na,b\0\n", "line 2 contains a NUL byte"),
            ("name,url\na,b\n", "line 1 names no column 'password'"),
        ]
    )
    func `a file that is not of RFC 4180 is refused with its line`(text: String, finding: String) throws {
        let error = #expect(throws: CofferError.self) { try entries(text) }
        #expect(error?.message.contains(finding) == true, "\(error?.message ?? "")")
    }

    @Test func `a row with another number of values is left out, and the others are read`() throws {
        let list = try list("name,password\na,b\nc\nd,e,f\ng,h\n")
        #expect(list.entries.map(\.title) == ["a", "g"])
        #expect(
            list.omissions.map(\.words) == [
                "line 3 is left out: it has 1 values, and the first line names 2 columns",
                "line 4 is left out: it has 3 values, and the first line names 2 columns",
            ]
        )
    }

    @Test func `quotes, commas and line ends inside quotes are part of a value`() throws {
        let entry = try #require(try entries("name,password,note\r\n\"a \"\"b\"\"\",\"x,y\",\"1\r\n2\"\r\n").first)
        #expect(entry.title == "a \"b\"")
        #expect(entry["password"]?.exposeText() == "x,y")
        #expect(entry.notes?.exposeText() == "1\r\n2")
    }
}
