import CofferCore
import CofferWire
import Testing

/// Texts as long as a frame may carry: what took a step more for each byte that came before would not end here.
@Suite struct JSONSizeTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let fault: JSONError.Reason?

        /// Repeats a piece up to the most bytes of a frame.
        init(_ words: String, _ start: String, _ piece: String, _ end: String, _ fault: JSONError.Reason? = nil) {
            testDescription = words
            let count = (Limits.frameJSONBytes - start.utf8.count - end.utf8.count) / piece.utf8.count
            bytes = Array((start + String(repeating: piece, count: count) + end).utf8)
            self.fault = fault
        }
    }

    private static let shapes = [
        Shape("an integer of a million digits", "", "9", "", .numberOutOfRange),
        Shape("a negative integer of a million digits", "-1", "0", "", .numberOutOfRange),
        Shape("a fraction of a million digits", "1.", "3", ""),
        Shape("a fraction of a million zeroes and a digit", "0.", "0", "1"),
        Shape("an exponent of a million digits", "1e", "9", "", .numberOutOfRange),
        Shape("a negative exponent of a million digits", "1e-", "9", ""),
        Shape("a million zeroes before an exponent", "0e", "0", "1"),
        Shape("a zero and a million digits", "0", "1", "", .trailingBytes),
        Shape("a string of plain characters", "\"", "a", "\""),
        Shape("a string of escapes", "\"", "\\n", "\""),
        Shape("a string of escaped scalars", "\"", "\\u00e9", "\""),
        Shape("a string of surrogate pairs", "\"", "\\ud83d\\ude00", "\""),
        Shape("a string of combining marks", "\"a", "\u{301}\u{323}", "\""),
        Shape("a string of joined emoji", "\"", "\u{1F468}\u{200D}", "\""),
        Shape("a string of flags", "\"", "\u{1F1E9}", "\""),
        Shape("a string without an end", "\"", "a", "", .unexpectedEnd),
        Shape("a string of backslashes without an end", "\"\\", "\\\\", "", .unexpectedEnd),
        Shape("blanks", "", " \t\r\n", "0"),
        Shape("blanks and nothing", "", " ", "", .unexpectedEnd),
        Shape("an array of empty arrays", "[0", ",[]", "]"),
        Shape("an array of empty objects", "[0", ",{}", "]"),
        Shape("an array of numbers", "[0", ",1e1", "]"),
        Shape("an array without an end", "[0", ",0", "", .unexpectedEnd),
        Shape("brackets that open", "", "[", "", .tooDeep),
        Shape("keys that open", "", "{\"a\":", "", .tooDeep),
        Shape("brackets that close", "[", "]", "", .trailingBytes),
        Shape(
            "brackets at the greatest depth",
            "[0",
            ",[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
            "]"
        ),
        Shape("commas", "[", ",", "]", .unexpectedByte),
        Shape("one key again and again", "{\"a\":0", ",\"a\":0", "}", .duplicateKey),
    ]

    @Test(arguments: shapes)
    func `a megabyte is read or refused as a line would be`(_ shape: Shape) {
        #expect(fault(shape.bytes)?.reason == shape.fault)
    }

    @Test(arguments: ["", "\u{301}", "\u{1F1E9}", "0000000000000000"])
    func `a megabyte of different keys is read, and the last of them may not be the first`(_ suffix: String) throws {
        var members: [String] = []
        var byteCount = 0
        while byteCount < Limits.frameJSONBytes - 100 {
            members.append("\"\(String(members.count, radix: 36))\(suffix)\":0")
            byteCount += members[members.count - 1].utf8.count + 1
        }
        let object = try #require(try parse("{\(members.joined(separator: ","))}").objectValue)
        #expect(object.members.count == members.count)
        let repeated = Array("{\(members.joined(separator: ",")),\(members[0])}".utf8)
        #expect(fault(repeated)?.reason == .duplicateKey)
    }

    @Test(arguments: [10_000, 10_001])
    func `a number of ten thousand digits is as near as a double comes`(_ count: Int) throws {
        let digits = String(repeating: "1", count: count)
        #expect(try parse("0.\(digits)") == .number(1.0 / 9))
        #expect(try parse("\(digits)e-\(count)") == .number(1.0 / 9))
        #expect(try parse("-\(digits)E-\(count - 1)") == .number(-10.0 / 9))
        #expect(fault(Array(digits.utf8)) == JSONError(offset: 0, reason: .numberOutOfRange))
        #expect(fault(Array("[1.0e\(digits)]".utf8)) == JSONError(offset: 1, reason: .numberOutOfRange))
        #expect(try parse("1e-\(digits)") == .number(0))
        #expect(try parse("0.\(String(repeating: "0", count: count))e\(digits)") == .number(0))
    }
}
