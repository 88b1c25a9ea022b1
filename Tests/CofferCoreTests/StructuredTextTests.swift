import CofferCore
import Testing

@Suite struct StructuredTextTests {
    private static func looks(_ text: String) -> Bool { looks(Array(text.utf8)) }

    private static func looks(_ bytes: [UInt8]) -> Bool { looksStructured(bytes.span.bytes) }

    @Test(
        arguments: [
            #"{"user": "me"}"#,
            #"{"user": "me", "password": "a\"}b"}"#,
            #" { "a" : { "b" : [ 1, { } ] } } "# + "\n",
            #"{"a": [[[]]], "b": "][}{"}"#,
            "{\r\n\t\"key\": null\r\n}\r\n",
            #"{"ключ": "значение"}"#,
            #"{"\"": 1}"#,
        ]
    )
    func `a JSON object with a named field looks structured`(text: String) { #expect(Self.looks(text)) }

    @Test(
        arguments: [
            "USER=me\nPASSWORD=x",
            "USER=me\r\nPASSWORD=x\r\n",
            "export USER=me\nexport PASSWORD='a = b: c'\n",
            "# the bank\n\n[bank]\nuser = me\npin = 1234\n\n; end",
            "[a] # one\nx=\n[b]\ny=\n",
            "user: me\npassword: x",
            "user:\n  name: me\n  pin: 1",
            "user: me\npassword:",
            "user: me\nurl: https://example.org/a=b",
            "user name: me\npass-word.2 = x",
            "имя: я\nпароль: x",
            "_a=1\n_b=2",
            "\n\n\ta: 1\n \tb: 2\n\n",
        ]
    )
    func `lines with two named fields look structured`(text: String) { #expect(Self.looks(text)) }

    @Test(
        arguments: [
            "",
            " \n\t",
            "hunter2",
            "user=me",
            "user: me",
            "user: me\nand some words",
            "words first\nuser: me\npin: 1",
            "user: me\npin: 1\nwords last",
            "http://a\nhttp://b",
            "12:30 start\n12:45 end",
            "at12:30\nat12:45",
            "=a\n=b",
            ": a\n: b",
            "- a: 1\n- b: 2",
            "# a=1\n# b=2",
            "[a]\n[b]\n[c]",
            "[a\nx=1\ny=2",
            "[a] b\nx=1\ny=2",
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw\n-----END PRIVATE KEY-----\n",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
            "QUJDREVG\nR0hJSg==\n",
        ]
    )
    func `other text does not look structured`(text: String) { #expect(!Self.looks(text)) }

    @Test(
        arguments: [
            "{}", "{ }", "[]", #"[{"a": 1}]"#, #""a": 1"#, #"{"a": 1"#, #"{"a": 1}}"#, #"{"a": 1]"#, #"{"a": [1}"#,
            #"{"a": 1} x"#, #"{"a": 1}{"b": 2}"#, #"x{"a": 1}"#, #"{"a"}"#, #"{"a", 1}"#, #"{"": 1}"#, #"{: 1}"#,
            #"{a: 1}"#, #"{"a: 1}"#, #"{"a\": 1}"#, #"{"x" y: 1}"#, #"{["a": 1]}"#, "{\"a\nb\": 1}", "{", "}", "{\"",
            "{\"\\",
        ]
    )
    func `broken JSON does not look structured`(text: String) { #expect(!Self.looks(text)) }

    @Test(arguments: [4095, 4096, 4097])
    func `more than 4 KiB never looks structured`(count: Int) {
        let text = "a=1\nb=" + String(repeating: "x", count: count - 6)
        #expect(text.utf8.count == count)
        #expect(Self.looks(text) == (count <= 4096))
    }

    @Test(arguments: [31, 32, 33])
    func `JSON may be 32 containers deep`(depth: Int) {
        let text = #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
        #expect(Self.looks(text) == (depth <= 32))
    }

    @Test(arguments: [63, 64, 65])
    func `a name may have 64 bytes`(count: Int) {
        #expect(Self.looks("a: 1\n" + String(repeating: "n", count: count) + ": 2") == (count <= 64))
    }

    @Test(arguments: (0...255).map { UInt8($0) })
    func `a control character makes it binary`(byte: UInt8) {
        let allowed = (0x20...0x7E).contains(byte) || [0x09, 0x0A, 0x0D].contains(byte)
        let bytes = Array("a=1\nb=".utf8) + [byte]
        #expect(Self.looks(bytes) == allowed)
    }

    @Test(
        arguments: [
            [0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82],
        ] as [[UInt8]]
    )
    func `what is not UTF-8 does not look structured`(fault: [UInt8]) {
        #expect(!Self.looks(Array("a=1\nb=".utf8) + fault))
        #expect(!Self.looks(Array(#"{"a": ""#.utf8) + fault + Array(#""}"#.utf8)))
    }

    @Test func `no input makes it trap`() {
        var source = SystemRandomNumberGenerator()
        let alphabet = Array("{}[]\":\\,=# ;\n\r\tab1é".utf8)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...64, using: &source)
            let structured = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &source)] }
            _ = looksStructured(structured.span.bytes)
            let random = (0..<count).map { _ in UInt8.random(in: 0...255, using: &source) }
            _ = looksStructured(random.span.bytes)
        }
        for byte in UInt8.min...UInt8.max {
            _ = looksStructured(Array(repeating: byte, count: 4096).span.bytes)
        }
    }
}
