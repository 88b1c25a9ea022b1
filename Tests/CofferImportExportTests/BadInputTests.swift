import CofferClient
import CofferImportExport
import CofferTestSupport
import Foundation
import Testing

/// What a reader refuses, and in which words.
@Suite struct BadInputTests {
    private func refusal(_ format: ImportFormat, _ text: String) throws -> CofferError {
        let secret = try Secret(exposed: text)
        return try #require(throws: CofferError.self) { try format.entries(of: secret) }
    }

    @Test(
        arguments: [
            (ImportFormat.bitwarden, "{\n\"items\": [\n{\"type\": 1, \"na", "line 3: a string does not end"),
            (.bitwarden, "{\"items\": [", "line 1: the JSON does not end"),
            (.bitwarden, "{\"items\": []} x", "line 1: there is more behind the end of the JSON"),
            (.bitwarden, "{\"items\": [], \"items\": []}", "the member 'items' occurs twice"),
            (.bitwarden, "{\"items\": [{\"name\": \"a\"}]}", "item 1 has no 'type'"),
            (.bitwarden, "{\"items\": [\"\\q\"], \"a\\q\": 1}", "an escape that JSON does not have"),
            (.bitwarden, "[]", "it has no list 'items'"),
            (.bitwarden, "", "the file is empty"), (.bitwarden, " \n", "the file is empty"),
            (.bitwarden, String(repeating: "[", count: 40), "more than 32 brackets are nested"),
            (
                .keepassXML, "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
                "line 1: a document type or an entity is declared"
            ),
            (
                .keepassXML,
                "<KeePassFile><Root><Group><Entry><String><Key>Title</Key><Value>&xxe;</Value></String></Entry></Group></Root></KeePassFile>",
                "an entity that XML itself does not have is refused"
            ),
            (.keepassXML, "<a>\n<b></a>", "line 2: <b> of line 2 is closed by another tag"),
            (.keepassXML, "<a>", "line 1: <a> is never closed"),
            (.keepassXML, "<?xml version='1.0'?><?x y?><a/>", "a processing instruction is refused"),
            (.keepassXML, "<a/>", "this is not the XML of KeePass"),
            (.keepassXML, String(repeating: "<a>", count: 100), "elements are nested too deeply"),
            (.netrc, "machine a login", "line 1: there is no user name: the file is cut off"),
            (.netrc, "machine a login \"b", "line 1: a quote is opened and never closed"),
            (.netrc, "hello world", "line 1: a word of .netrc is expected"),
            (.gitCredentials, "https://github.com\n", "line 1: an address https://USER:PASSWORD@HOST is expected"),
            (.docker, "{\"auths\": {\"a\": {\"auth\": \"%\"}}}", "the registry 'a': 'auth' is not base64"),
            (.docker, "{\"credsStore\": \"x\"}", "it has no object 'auths'"),
            (.pgpass, "a:b:c:d\n", "line 1: HOST:PORT:DATABASE:USER:PASSWORD is expected"),
            (.dotenv, "\nB='x\n", "line 2: a quote is opened and not closed on its line"),
            (.dotenv, "\nhello\n", "line 2: NAME=value is expected"),
            (.macosKeychain, "class: \"genp\"", "its first line does not begin with 'keychain:'"),
            (.secretService, "label = a", "its first line is no path in brackets"),
            (.cxf, "{\"accounts\": [], \"version\": {\"major\": 2}}", "another version of the format"),
            (.csv, "\u{0}", "line 1 contains a NUL byte"),
        ]
    )
    func `a bad file is refused with its line and its fault`(format: ImportFormat, text: String, finding: String) throws
    {
        let error = try refusal(format, text)
        #expect(error.code == .param)
        #expect(error.message.contains(finding), "\(error.message)")
    }

    @Test(
        arguments: [
            ("bitwarden.json", ImportFormat.bitwarden), ("chrome.csv", .csv), ("keepass.xml", .keepassXML),
            ("netrc", .netrc), ("git-credentials", .gitCredentials), ("docker-config.json", .docker),
            ("dotenv", .dotenv), ("macos-keychain.txt", .macosKeychain), ("secret-service.txt", .secretService),
            ("cxf.json", .cxf),
        ]
    )
    func `a file of another format is named`(file: String, format: ImportFormat) throws {
        let text = try String(contentsOfFile: "\(Project.root)/Tests/Vectors/import/\(file)", encoding: .utf8)
        let wrong: ImportFormat = format == .pgpass ? .docker : .pgpass
        let error = try refusal(wrong, text)
        #expect(error.message.contains("it looks like the format \(format.rawValue)"), "\(error.message)")
        #expect(error.hint == "try 'coffer import \(format.rawValue)'")
    }

    @Test func `UTF-16 is refused by name, and the mark of UTF-8 is none of the text`() throws {
        var bytes: [UInt8] = [0xFF, 0xFE]
        for unit in "name,password".utf16 { bytes += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        let secret = try Secret(copying: bytes.span.bytes)
        let error = try #require(throws: CofferError.self) { try ImportFormat.csv.entries(of: secret) }
        #expect(error.message.contains("the file is UTF-16"))
        let list = try ImportFormat.csv.entries(of: try Secret(exposed: "\u{FEFF}name,password\na,b\n"))
        #expect(list.entries.first?.title == "a")
    }

    @Test func `the bounds hold at the last that is accepted and at the first that is not`() throws {
        func csv(fieldBytes: Int) throws -> ExchangeList {
            try ImportFormat.csv.entries(
                of: try Secret(exposed: "name,password\na,\(String(repeating: "x", count: fieldBytes))\n")
            )
        }
        #expect(try csv(fieldBytes: Limits.importFieldBytes).entries.count == 1)
        #expect(
            try #require(throws: CofferError.self) { try csv(fieldBytes: Limits.importFieldBytes + 1) }.code
                == .dataTooLarge
        )

        func rows(_ count: Int) throws -> ExchangeList {
            try ImportFormat.csv.entries(
                of: try Secret(exposed: "name,password\n" + String(repeating: "a,b\n", count: count))
            )
        }
        #expect(try rows(Limits.importEntries).entries.count == Limits.importEntries)
        #expect(try #require(throws: CofferError.self) { try rows(Limits.importEntries + 1) }.code == .dataTooLarge)

        func columns(_ count: Int) throws -> ExchangeList {
            let names = ["password"] + (1..<count).map { "c\($0)" }
            let row = names.map { _ in "x" }.joined(separator: ",")
            return try ImportFormat.csv.entries(
                of: try Secret(exposed: names.joined(separator: ",") + "\n" + row + "\n")
            )
        }
        #expect(try columns(Limits.importFields).entries.first?.fields.count == Limits.importFields)
        #expect(try #require(throws: CofferError.self) { try columns(Limits.importFields + 1) }.code == .dataTooLarge)
    }

    @Test func `a JSON of more values than an import takes is refused before its values are read`() throws {
        // The first value is none, which is found as soon as values are read; commas and brackets in strings are no
        // values, and an empty list is one.
        let start = #"[nope, ",,[{\"", [ ], {}, {"a": {"b": 0}}"#
        func values(_ count: Int) -> String { start + String(repeating: ",0", count: count - 8) + "]" }
        let last = try refusal(.bitwarden, values(Limits.importValues))
        #expect(last.code == .param && last.message.contains("line 1: there is no JSON value"), "\(last.message)")
        let first = try refusal(.bitwarden, values(Limits.importValues + 1))
        #expect(first.code == .dataTooLarge && first.message.contains("more than \(Limits.importValues) values"))
    }

    @Test(arguments: ["0", "-0", "10", "-1.50", "1e5", "1E+5", "12.5e-007"])
    func `a number of JSON is read`(number: String) throws {
        let text = #"{"items": [{"type": 1, "name": "a", "login": {"password": \#(number) } }]}"#
        let list = try ImportFormat.bitwarden.entries(of: try Secret(exposed: text))
        #expect(list.entries.first?["password"]?.exposeText() == number)
    }

    @Test(arguments: [
        "01", "-", "+1", ".5", "1.", "1.e1", "1e", "1e+", "0x1", "1_0", "Infinity", "--1", "1.2.3", "1e1.5",
    ])
    func `what only resembles a number is refused`(number: String) throws {
        let error = try refusal(.bitwarden, #"{"items": [], "a": \#(number)}"#)
        #expect(["there is no JSON value", "a comma is missing"].contains { error.message.contains($0) })
    }

    @Test func `names of members are compared without their escapes`() throws {
        let error = try refusal(.bitwarden, #"{"it\u0065ms": [], "items": []}"#)
        #expect(error.message.contains("the member 'items' occurs twice"), "\(error.message)")
        let list = try ImportFormat.bitwarden.entries(
            of: try Secret(exposed: #"{"\u0069tems": [{"type": 2, "name": "a", "n\u006ftes": "b"}]}"#)
        )
        #expect(list.entries.first?.notes?.exposeText() == "b")
    }

    @Test func `as many entries are left out as an import takes, and no more`() throws {
        func list(_ count: Int) -> String {
            #"{"items": [{"type": 2, "name": "a", "notes": "b"}"# + String(repeating: ",0", count: count) + "]}"
        }
        let last = try ImportFormat.bitwarden.entries(of: try Secret(exposed: list(Limits.importEntries)))
        #expect(last.entries.count == 1 && last.omissions.count == Limits.importEntries)
        #expect(try refusal(.bitwarden, list(Limits.importEntries + 1)).code == .dataTooLarge)
    }

    @Test func `every file that is cut off anywhere is read or refused, and nothing else happens`() throws {
        let files: [(String, ImportFormat)] = [
            ("bitwarden.json", .bitwarden), ("cxf.json", .cxf), ("keepass.xml", .keepassXML), ("chrome.csv", .csv),
            ("netrc", .netrc), ("macos-keychain.txt", .macosKeychain), ("secret-service.txt", .secretService),
            ("docker-config.json", .docker), ("dotenv", .dotenv), ("pgpass", .pgpass),
            ("git-credentials", .gitCredentials),
        ]
        for (file, format) in files {
            let bytes = Array(try Data(contentsOf: URL(filePath: "\(Project.root)/Tests/Vectors/import/\(file)")))
            for end in stride(from: 0, to: bytes.count, by: 7) {
                let beginning = Array(bytes[..<end])
                let cut = try Secret(copying: beginning.span.bytes)
                do {
                    let list = try format.entries(of: cut)
                    let isJSON = file.hasSuffix(".json") || file.hasSuffix(".xml")
                    // The line end behind the last bracket is not missed.
                    #expect(!isJSON || end >= bytes.count - 1, "\(file) \(end): \(list.entries.count)")
                } catch {
                    #expect(error.code == .param, "\(file) \(end): \(error.message)")
                }
            }
        }
    }
}
