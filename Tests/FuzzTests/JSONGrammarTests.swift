import FuzzTargets
import Testing

/// The parser against the grammar of RFC 8259, on every short text of some symbols.
@Suite struct JSONGrammarTests {
    @Test(
        arguments: [
            (["[", "]", "{", "}", ",", ":", "\"a\"", "1", " ", "null"], 5),
            (["-", "0", "1", ".", "e", "E", "+"], 6),
            (["\"", "\\", "u", "00e9", "d834", "dd1e", "n", "x", "\u{1}", "\u{7F}", "/"], 5),
            (["t", "tr", "true", "false", "null", "nul", "l", "T", "NaN", "Infinity", "[", "]", "//"], 4),
        ] as [([String], Int)]
    )
    func `takes what the RFC has, and refuses the rest`(_ symbols: [String], _ length: Int) throws {
        var texts = [""]
        for _ in 0..<length {
            texts = texts.flatMap { text in symbols.map { text + $0 } }
            for text in texts { try FuzzTarget.messages.check(Array(text.utf8)) }
        }
    }

    @Test func `takes what the RFC has, and refuses the rest, where bytes are no text`() throws {
        for prefix in [[], [0x22], [0x5B, 0x22]] as [[UInt8]] {
            for first in UInt8.min...UInt8.max {
                for second in UInt8.min...UInt8.max {
                    try FuzzTarget.messages.check(prefix + [first, second])
                    try FuzzTarget.messages.check(prefix + [first, second, 0x22])
                }
            }
        }
    }
}
