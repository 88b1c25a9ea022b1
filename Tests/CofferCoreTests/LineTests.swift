import CofferCore
import Testing

@Suite struct LineTests {
    private static let hostile =
        "a\u{1B}[31m\u{9B}\r\n\u{7F}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{200B}\u{AD}\u{FE0F}\u{3164}b"
    private static let escaped =
        #"a\u{1B}[31m\u{009B}\r\n\u{7F}\u{202E}\u{2066}\u{200F}\u{061C}\u{2028}\u{200B}\u{00AD}\u{FE0F}\u{3164}b"#

    @Test func `literals are unchanged, and interpolated text is escaped`() {
        let line: Line = "\r\u{1B}[K\(Self.hostile)\n\(7)"
        #expect(line.forTerminal == "\r\u{1B}[K\(Self.escaped)\n7")
        #expect(line.forPipe == line.forTerminal)
    }

    @Test func `a line inside a line is not escaped again`() {
        let inner: Line = "one\ntwo \(Self.hostile)"
        let outer: Line = "(\(inner))" + "\n"
        #expect(outer.forTerminal == "(one\ntwo \(Self.escaped))\n")
    }

    @Test func `a name for itself goes into a pipe as it is, and whole onto a terminal`() {
        let name = String(repeating: "n", count: 200) + Self.hostile
        let line: Line = "\(name: name)"
        #expect(line.forPipe == name)
        #expect(line.forTerminal == "'" + String(repeating: "n", count: 200) + Self.escaped + "'")
    }

    @Test(arguments: ["plain words", "ключ 🔑", "日本語", "é", String(repeating: "x", count: 500)])
    func `what a terminal shows stays as it is`(text: String) {
        let line: Line = "\(text) \(name: text)"
        #expect(line.forTerminal == "\(text) \(text)")
    }

    @Test func `a name with a joiner is distinguished from one without`() {
        let one: Line = "\(name: "👩💻")"
        let other: Line = "\(name: "👩\u{200D}💻")"
        #expect(other.forTerminal != one.forTerminal && !other.forTerminal.unicodeScalars.contains("\u{200D}"))
    }
}
