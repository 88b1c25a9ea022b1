import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// The fields of secrets: `get --field`, `put --field` and `show --fields`.
@Suite struct FieldsTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    private func put(_ text: String, _ name: String = "a/b") throws {
        let result = try daemon.coffer(["put", name], input: Array(text.utf8))
        #expect(result.status == 0, "\(result.errors)")
    }

    private func value(_ field: String, _ name: String = "a/b") throws -> String {
        let result = try daemon.coffer(["get", name, "--field", field])
        #expect(result.status == 0, "\(result.errors)")
        return result.text
    }

    @Test(
        arguments: [
            (#"{"user": "m\u00e9 \ud83d\ude00\n", "n": 5432}"#, "user", "mé 😀\n"),
            (#"{"user": "me", "n": 5432}"#, "n", "5432"),
            (#"{"db": {"user": "me", "a.b": [1]}}"#, "db.user", "me"),
            (#"{"db": {"user": "me", "a.b": [1]}}"#, "db.a.b", "[1]"),
            ("hunter2\nusername: me\n", "password", "hunter2"),
            ("hunter2\nusername:  me \r\nurl: https://a/b: c\n", "username", "me"),
            ("a=b=\nusername: me\n", "password", "a=b="),
            ("one: line", "password", "one: line"),
            ("\nusername: me\n", "password", ""),
            ("words\nfree text\nurl: https://a\n", "url", "https://a"),
            ("host: a\nport: 1\n", "host", "a"),
            ("# c\n\nexport A=\"x \\\"y\\n\" # note\nB=1\n", "A", "x \"y\n"),
            ("A='x \\n' # note\nB=1\n", "A", "x \\n"),
            ("A=x # note\nB=1\n", "A", "x"),
            ("A=x#y\nB=1\nA=2\n", "A", "2"),
            ("[s]\nA = 1\n", "A", "1"),
        ]
    )
    func `a field is read from each form`(text: String, field: String, expected: String) throws {
        try put(text)
        #expect(try value(field) == expected)
    }

    @Test(
        arguments: [
            (#"{"a": "x",  "n": 1}"#, "a", "q\"\\\n", #"{"a": "q\"\\\n",  "n": 1}"#),
            (#"{"a": "x",  "n": 1}"#, "n", "2.5e3", #"{"a": "x",  "n": 2.5e3}"#),
            (#"{"a": "x",  "n": 1}"#, "n", "007", #"{"a": "x",  "n": "007"}"#),
            ("{\n  \"a\": \"x\"\n}\n", "b", "y", "{\n  \"a\": \"x\",\n  \"b\": \"y\"\n}\n"),
            ("{ }\n", "a", "x", #"{"a": "x"}"# + "\n"),
            (#"{"d":{"a":"x"}}"#, "d.a", "y", #"{"d":{"a":"y"}}"#),
            ("hunter2", "username", "me", "hunter2\nusername: me"),
            ("hunter2\nuser: me\nnotes\n", "user", "you", "hunter2\nuser: you\nnotes\n"),
            ("hunter2\nuser:\n", "user", "you", "hunter2\nuser: you\n"),
            ("hunter2\r\nuser: me\r\n", "url", "x", "hunter2\r\nuser: me\r\nurl: x\r\n"),
            ("hunter2\nuser: me\n", "password", "new one", "new one\nuser: me\n"),
            ("# c\nA=\"x\" # note\n\nB=1 # k\n", "A", "p$q", "# c\nA=\"p\\$q\" # note\n\nB=1 # k\n"),
            ("# c\nA=\"x\" # note\n\nB=1 # k\n", "B", "a b", "# c\nA=\"x\" # note\n\nB='a b' # k\n"),
            ("export A=1\nB=2", "C", "it's", "export A=1\nB=2\nC=\"it's\""),
        ]
    )
    func `a field is set, and all else stays byte for byte`(
        text: String,
        field: String,
        new: String,
        expected: String
    ) throws {
        try put(text)
        let result = try daemon.coffer(["put", "a/b", "--field", field], input: Array("\(new)\n".utf8))
        #expect(result.status == 0, "\(result.errors)")
        #expect(try daemon.coffer(["get", "a/b"]).text == expected)
        #expect(try value(field) == new)
    }

    @Test(
        arguments: [
            ("hunter2\nuser: me\n", "user", "two\nlines"), ("hunter2\nuser: me\n", "user", " spaces"),
            ("hunter2\nuser: me\n", "password", "user: x"), ("hunter2\nuser: me\n", "1st", "x"),
            ("A=1\nB=2\n", "a b:c", "x"), ("-----BEGIN X-----\nabc\n-----END X-----\n", "user", "x"),
        ]
    )
    func `what the form can't hold is refused, and nothing changes`(text: String, field: String, new: String) throws {
        try put(text)
        let result = try daemon.coffer(["put", "a/b", "--field", field], input: Array(new.utf8))
        #expect(result.status == 64, "\(result.errors)")
        #expect(!result.errors.contains("spaces\n") && !result.errors.contains("hunter2"))
        #expect(try daemon.coffer(["get", "a/b"]).text == text)
    }

    @Test func `a missing field is 66, and the hint has names and no values`() throws {
        try put("hunter2\nusername: me\n")
        let result = try daemon.coffer(["get", "a/b", "--field", "url"])
        #expect(result.status == 66)
        #expect(result.errors.contains("hint: its fields are 'password', 'username'"), "\(result.errors)")
        #expect(!result.errors.contains("hunter2"))
        try put("one line of a password = not a name")
        let bare = try daemon.coffer(["get", "a/b", "--field", "url"])
        #expect(bare.errors.contains("its fields are 'password'\n"), "\(bare.errors)")
    }

    @Test func `the list of the fields masks every value by the same mask`() throws {
        try put(#"{"user": "me", "n": 5432}"#)
        let shown = try daemon.coffer(["show", "a/b", "--fields"])
        #expect(shown.text == "user  ••••••••\nn     ••••••••\n")
        let json = try daemon.coffer(["show", "a/b", "--fields", "--json"])
        #expect(json.text == #"{"form":"json","fields":["user","n"]}"# + "\n")
    }

    @Test func `a field of an item that is missing makes the item`() throws {
        for (field, text) in [("password", "x"), ("username", "\nusername: x")] {
            let result = try daemon.coffer(["put", "new/\(field)", "--field", field], input: Array("x".utf8))
            #expect(result.status == 0, "\(result.errors)")
            #expect(try daemon.coffer(["get", "new/\(field)"]).text == text)
            #expect(try value(field, "new/\(field)") == "x")
        }
    }

    @Test func `a field of a file changes the file, and its class stays`() throws {
        let text = "A=1\nB=\(String(repeating: "x", count: 3000))\n"
        try put(text)
        let path = try daemon.directory.write(Array(text.utf8), to: "prod.env")
        #expect(
            try daemon.coffer(["put", "prod.env", path, "--protection", "complete", "--store", "file"]).status == 0
        )
        #expect(try daemon.coffer(["put", "prod.env", "--field", "A"], input: [0x32]).status == 0)
        #expect(try daemon.coffer(["get", "prod.env"]).text == text.replacing("A=1", with: "A=2"))
        let shown = try daemon.coffer(["show", "prod.env"]).text
        #expect(shown.contains(/what: +file\n/) && shown.contains(/readable: +while unlocked\n/), "\(shown)")
    }

    @Test func `the accessibility, the comment and the history of an item stay`() throws {
        #expect(
            try daemon.coffer(
                [
                    "keychain", "add", "--service", "a", "--account", "b", "--accessible", "AfterFirstUnlock",
                    "--other", "comment=c",
                ],
                input: Array("hunter2".utf8)
            ).status == 0
        )
        #expect(try daemon.coffer(["put", "a/b", "--field", "user"], input: Array("me".utf8)).status == 0)
        #expect(try daemon.coffer(["show", "a/b"]).text.contains("after first unlock"))
        let found = try daemon.coffer(["keychain", "find", "--service", "a", "--attributes"]).text
        #expect(found.contains("comment"), "\(found)")
        let history = try daemon.coffer(["keychain", "history", "--service", "a", "--account", "b"])
        #expect(history.text.split(separator: "\n").count == 1)
    }

    @Test func `a locked secret is 75, and shows no field`() throws {
        try put("hunter2\nuser: me\n")
        _ = try daemon.connect().lock(graceSeconds: 0)
        for words in [["get", "a/b", "--field", "user"], ["show", "a/b", "--fields"]] {
            let result = try daemon.coffer(words)
            #expect(result.status == 75 && result.text.isEmpty, "\(result.errors)")
        }
        #expect(try daemon.coffer(["put", "a/b", "--field", "user"], input: [0x78]).status == 75)
    }
}
