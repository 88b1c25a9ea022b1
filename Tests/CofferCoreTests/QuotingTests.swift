import CofferCore
import Testing

@Suite struct QuotingTests {
    @Test(
        arguments: [
            ("", "''"),
            ("plain words", "'plain words'"),
            ("ключ 🔑", "'ключ 🔑'"),
            ("a\tb\r\nc", #"'a\tb\r\nc'"#),
            ("\0", #"'\0'"#),
            ("\u{1B}[2J", #"'\u{1B}[2J'"#),
            ("\u{7F}\u{85}", #"'\u{7F}\u{0085}'"#),
            ("a\u{202E}b", #"'a\u{202E}b'"#),
            ("a\u{200B}b", #"'a\u{200B}b'"#),
        ]
    )
    func `control and format characters are made visible`(value: String, quoted: String) {
        #expect(quotedForDisplay(value) == quoted)
    }

    @Test(arguments: [75, 76, 77])
    func `a value is cut after 76 characters`(count: Int) {
        let quoted = quotedForDisplay(String(repeating: "x", count: count))
        #expect(quoted == "'" + String(repeating: "x", count: min(count, 76)) + (count > 76 ? "…'" : "'"))
    }

    @Test(arguments: ["\u{2028}", "\u{2029}"])
    func `a line separator is made visible`(separator: String) {
        #expect(!quotedForDisplay("a\(separator)b").contains(separator))
    }

    @Test func `a value full of control characters is cut too`() {
        #expect(quotedForDisplay(String(repeating: "\u{1B}", count: 100)).count <= 80)
    }

    @Test func `a quote in the value can't be taken for its end`() {
        #expect(quotedForDisplay("a' and 'b") != "'a' and 'b'")
    }
}
