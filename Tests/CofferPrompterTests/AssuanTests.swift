import CofferCore
import CofferPrompter
import CofferSystem
import Foundation
import Testing

/// The lines that a pinentry gets and gives.
@Suite struct AssuanTests {
    @Test(
        arguments: [
            ("plain ä", "plain ä"), ("50%", "50%25"), ("a\nb\r\tc", "a%0Ab%0D%09c"), ("\u{7F}", "%7F"),
            ("<b>&", "‹b>&"),
        ]
    )
    func `a text can't end its line, nor be markup`(text: String, sent: String) {
        #expect(AssuanText.escaped(text, upTo: 100) == sent)
    }

    @Test func `a text that is too long is cut between escapes`() {
        #expect(AssuanText.escaped("%%%", upTo: 9) == "%25%25%25")
        #expect(AssuanText.escaped("%%%%", upTo: 9) == "%25%25…")
        #expect(AssuanText.escaped("%%%%", upTo: 8) == "%25…")
        #expect(AssuanText.escaped("ääää", upTo: 7) == "ää…")
    }

    @Test func `a command fits into a line, whatever its text`() {
        let name = String(repeating: "%", count: 2000)
        let line = AssuanText.command("SETDESC", "\(name)")
        #expect(line.hasPrefix("SETDESC %25"))
        #expect(line.hasSuffix("…"))
        #expect((Limits.assuanLineBytes - 3...Limits.assuanLineBytes).contains(line.utf8.count))
    }

    @Test func `a caller can't break the line of what it says`() {
        let asked = Question.unlock(for: "a\nGETPIN", reason: "b\u{1B}[2J%0A")
        let line = AssuanText.command("SETDESC", asked.text)
        #expect(line == #"SETDESC 'a\nGETPIN' asks to unlock the vault.%0AIt says: 'b\u{1B}[2J%250A'"#)
    }

    private func decoded(_ text: String) -> String? {
        var bytes = Array(text.utf8)
        let count = bytes.withUnsafeMutableBytes { AssuanText.decode($0) }
        guard let count else { return nil }
        #expect(bytes[count...].allSatisfy { $0 == 0 }, "the rest is wiped")
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    @Test func `a passcode is decoded in its place`() {
        #expect(decoded("") == "")
        #expect(decoded("plain") == "plain")
        #expect(decoded("%25a%0a%0Db%C3%A4") == "%a\n\rbä")
    }

    @Test(arguments: ["%", "a%2", "%2g", "%zz", "%%25"])
    func `a malformed escape is refused`(text: String) {
        #expect(decoded(text) == nil)
    }

    @Test(
        arguments: [
            ("OK", AssuanLine.ok), ("OK Pleased to meet you", .ok), ("OKAY", .other), ("", .other),
            (
                "ERR 83886179 Operation cancelled <Pinentry>",
                .failure(code: 83_886_179, text: "Operation cancelled <Pinentry>")
            ),
            ("ERR 99", .failure(code: 99, text: "")), ("ERR x", .other), ("ERR", .other), ("D x", .data), ("D ", .data),
            ("D", .other), ("S ERROR x", .aside), ("# comment", .aside), ("INQUIRE x", .other), ("SECRET", .other),
        ]
    )
    func `each line is known by its beginning`(text: String, meaning: AssuanLine) {
        #expect(Array(text.utf8).withUnsafeBytes { AssuanLine($0) } == meaning)
    }

    // MARK: Lines

    private func feed(_ text: String, _ buffer: inout AssuanBuffer) throws {
        let bytes = Array(text.utf8)
        let count = try buffer.receive { (memory) throws(SystemError) in
            memory.copyBytes(from: bytes.prefix(memory.count))
            return min(bytes.count, memory.count)
        }
        #expect(count == bytes.count)
    }

    private func next(_ buffer: inout AssuanBuffer) -> String? {
        buffer.next { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `lines are taken one by one, however they arrive`() throws {
        var buffer = try AssuanBuffer()
        try feed("O", &buffer)
        #expect(next(&buffer) == nil)
        try feed("K\n\r\nD a\r\nrest", &buffer)
        #expect(next(&buffer) == "OK")
        #expect(next(&buffer) == "")
        #expect(next(&buffer) == "D a")
        #expect(next(&buffer) == nil)
        try feed(" of it\n", &buffer)
        #expect(next(&buffer) == "rest of it")
        #expect(next(&buffer) == nil)
    }

    @Test func `a line that is taken is wiped`() throws {
        var buffer = try AssuanBuffer()
        try feed("D passcode\nOK\n", &buffer)
        #expect(next(&buffer) == "D passcode")
        #expect(next(&buffer) == "OK")
        var isWiped = false
        _ = try buffer.receive { (memory) throws(SystemError) in
            isWiped = memory.allSatisfy { $0 == 0 } && memory.count == Limits.assuanLineBytes + 2
            return 0
        }
        #expect(isWiped)
    }

    @Test func `the longest line fits, and a longer one is noticed`() throws {
        var buffer = try AssuanBuffer()
        let longest = String(repeating: "x", count: Limits.assuanLineBytes)
        try feed(longest + "\r\n", &buffer)
        #expect(next(&buffer) == longest)
        let hasRoom = !buffer.isFull
        #expect(hasRoom)
        try feed(longest + "xx", &buffer)
        let line = next(&buffer)
        let isFull = buffer.isFull
        #expect(line == nil && isFull)
    }
}
