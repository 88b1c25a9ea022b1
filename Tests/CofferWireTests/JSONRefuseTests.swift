import CofferTestSupport
import CofferWire
import Testing

struct Refused: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let fault: JSONError

    init(_ text: String, _ reason: JSONError.Reason, at offset: Int) {
        self.init(Array(text.utf8), reason, at: offset)
    }

    init(_ bytes: [UInt8], _ reason: JSONError.Reason, at offset: Int) {
        self.bytes = bytes
        fault = JSONError(offset: offset, reason: reason)
    }

    /// A string with these bytes between its quotes.
    static func utf8(_ bytes: UInt8...) -> Refused {
        Refused([0x22] + bytes + [0x22], .badUTF8, at: 1)
    }

    var testDescription: String { "\(text(bytes)) \(bytes)" }
}

private let structure: [Refused] = [
    Refused("", .unexpectedEnd, at: 0),
    Refused(" \n", .unexpectedEnd, at: 2),
    Refused("\u{FEFF}", .byteOrderMark, at: 0),
    Refused("\u{FEFF}{}", .byteOrderMark, at: 0),
    Refused([0xFF, 0xFE, 0x5B, 0, 0x5D, 0], .unexpectedByte, at: 0),
    Refused([0x5B, 0, 0x5D, 0], .unexpectedByte, at: 1),
    Refused("[]\0", .trailingBytes, at: 2),
    Refused("\u{C}[]", .unexpectedByte, at: 0),
    Refused("\u{B}1", .unexpectedByte, at: 0),
    Refused("\u{A0}1", .unexpectedByte, at: 0),
    Refused("\u{2060}[]", .unexpectedByte, at: 0),
    Refused("[] []", .trailingBytes, at: 3),
    Refused("1 2", .trailingBytes, at: 2),
    Refused("{}}", .trailingBytes, at: 2),
    Refused("[]]", .trailingBytes, at: 2),
    Refused("null,", .trailingBytes, at: 4),
    Refused("{}#", .trailingBytes, at: 2),
    Refused("/* c */ 1", .unexpectedByte, at: 0),
    Refused("1 // c", .trailingBytes, at: 2),
    Refused("[", .unexpectedEnd, at: 1),
    Refused("[1", .unexpectedEnd, at: 2),
    Refused("[1,", .unexpectedEnd, at: 3),
    Refused("[1,]", .unexpectedByte, at: 3),
    Refused("[,1]", .unexpectedByte, at: 1),
    Refused("[,]", .unexpectedByte, at: 1),
    Refused("[1,,2]", .unexpectedByte, at: 3),
    Refused("[1 2]", .expectedSeparator, at: 3),
    Refused("[1}", .expectedSeparator, at: 2),
    Refused("[1:2]", .expectedSeparator, at: 2),
    Refused("[\"a\":1]", .expectedSeparator, at: 4),
    Refused("]", .unexpectedByte, at: 0),
    Refused(",", .unexpectedByte, at: 0),
    Refused(":", .unexpectedByte, at: 0),
    Refused("{", .unexpectedEnd, at: 1),
    Refused("}", .unexpectedByte, at: 0),
    Refused("{]", .expectedKey, at: 1),
    Refused("{,}", .expectedKey, at: 1),
    Refused("{a:1}", .expectedKey, at: 1),
    Refused("{'a':1}", .expectedKey, at: 1),
    Refused("{1:1}", .expectedKey, at: 1),
    Refused("{null:1}", .expectedKey, at: 1),
    Refused(#"{"a"}"#, .expectedColon, at: 4),
    Refused(#"{"a" 1}"#, .expectedColon, at: 5),
    Refused(#"{"a",1}"#, .expectedColon, at: 4),
    Refused(#"{"a"=1}"#, .expectedColon, at: 4),
    Refused(#"{"a"::1}"#, .unexpectedByte, at: 5),
    Refused(#"{"a":}"#, .unexpectedByte, at: 5),
    Refused(#"{"a":1"#, .unexpectedEnd, at: 6),
    Refused(#"{"a":1,}"#, .expectedKey, at: 7),
    Refused(#"{"a":1,,"b":2}"#, .expectedKey, at: 7),
    Refused(#"{"a":1 "b":2}"#, .expectedSeparator, at: 7),
    Refused(#"{"a":1]"#, .expectedSeparator, at: 6),
    Refused(#"{"a":1,"a":1}"#, .duplicateKey, at: 7),
    Refused(#"{"a":1,"b":2,"a":3}"#, .duplicateKey, at: 13),
    Refused(#"{"a":1,"\u0061":2}"#, .duplicateKey, at: 7),
    Refused(#"{"":1,"":2}"#, .duplicateKey, at: 6),
    Refused(#"[{"x":{"é":1,"\u00e9":2}}]"#, .duplicateKey, at: 14),
]

private let literalsAndNumbers: [Refused] = [
    Refused("nul", .unexpectedEnd, at: 3),
    Refused("nuul", .badLiteral, at: 2),
    Refused("nulll", .trailingBytes, at: 4),
    Refused("Null", .unexpectedByte, at: 0),
    Refused("TRUE", .unexpectedByte, at: 0),
    Refused("tru ", .badLiteral, at: 3),
    Refused("truefalse", .trailingBytes, at: 4),
    Refused("fals3", .badLiteral, at: 4),
    Refused("NaN", .unexpectedByte, at: 0),
    Refused("nan", .badLiteral, at: 1),
    Refused("Infinity", .unexpectedByte, at: 0),
    Refused("-Infinity", .badNumber, at: 1),
    Refused("undefined", .unexpectedByte, at: 0),
    Refused("-", .unexpectedEnd, at: 1),
    Refused("--1", .badNumber, at: 1),
    Refused("+1", .unexpectedByte, at: 0),
    Refused("- 1", .badNumber, at: 1),
    Refused("01", .trailingBytes, at: 1),
    Refused("-01", .trailingBytes, at: 2),
    Refused("00", .trailingBytes, at: 1),
    Refused("[012]", .expectedSeparator, at: 2),
    Refused(".5", .unexpectedByte, at: 0),
    Refused("-.5", .badNumber, at: 1),
    Refused("1.", .unexpectedEnd, at: 2),
    Refused("[1.]", .badNumber, at: 3),
    Refused("1.e1", .badNumber, at: 2),
    Refused("1.5.5", .trailingBytes, at: 3),
    Refused("1e", .unexpectedEnd, at: 2),
    Refused("[1e]", .badNumber, at: 3),
    Refused("1e+", .unexpectedEnd, at: 3),
    Refused("1e+-1", .badNumber, at: 3),
    Refused("1e1.5", .trailingBytes, at: 3),
    Refused("1ee1", .badNumber, at: 2),
    Refused("0x10", .trailingBytes, at: 1),
    Refused("0b1", .trailingBytes, at: 1),
    Refused("1_000", .trailingBytes, at: 1),
    Refused("1,000", .trailingBytes, at: 1),
    Refused("1a", .trailingBytes, at: 1),
    Refused("\u{661}", .unexpectedByte, at: 0),
    Refused("1e400", .numberOutOfRange, at: 0),
    Refused("[-1e400]", .numberOutOfRange, at: 1),
    Refused("1.8e308", .numberOutOfRange, at: 0),
    Refused(String(repeating: "9", count: 400), .numberOutOfRange, at: 0),
    Refused("1e99999999999999999999", .numberOutOfRange, at: 0),
]

private let strings: [Refused] = [
    Refused("\"", .unexpectedEnd, at: 1),
    Refused("\"a", .unexpectedEnd, at: 2),
    Refused("'a'", .unexpectedByte, at: 0),
    Refused("a", .unexpectedByte, at: 0),
    Refused("\"a\"b", .trailingBytes, at: 3),
    Refused("\"a\nb\"", .controlCharacter, at: 2),
    Refused("\"\t\"", .controlCharacter, at: 1),
    Refused("\"\0\"", .controlCharacter, at: 1),
    Refused("\"\u{1F}\"", .controlCharacter, at: 1),
    Refused("\"\\n\u{1}\"", .controlCharacter, at: 3),
    Refused("\"\\", .unexpectedEnd, at: 2),
    Refused("\"\\\"", .unexpectedEnd, at: 3),
    Refused(#""\a""#, .badEscape, at: 2),
    Refused(#""\x41""#, .badEscape, at: 2),
    Refused(#""\'""#, .badEscape, at: 2),
    Refused(#""\0""#, .badEscape, at: 2),
    Refused(#""\U0041""#, .badEscape, at: 2),
    Refused("\"\\\n\"", .badEscape, at: 2),
    Refused("\"\\é\"", .badEscape, at: 2),
    Refused(#""\u""#, .badEscape, at: 3),
    Refused(#""\u00""#, .badEscape, at: 5),
    Refused(#""\u004""#, .badEscape, at: 6),
    Refused(#""\u00g1""#, .badEscape, at: 5),
    Refused(#""\u+041""#, .badEscape, at: 3),
    Refused(#""\u 041""#, .badEscape, at: 3),
    Refused(#""\u{41}""#, .badEscape, at: 3),
    Refused(#""\u00"#, .unexpectedEnd, at: 5),
    Refused(#""\ud800""#, .loneSurrogate, at: 3),
    Refused(#""\udc00""#, .loneSurrogate, at: 3),
    Refused(#""\ud800x""#, .loneSurrogate, at: 3),
    Refused(#""\ud800\n""#, .loneSurrogate, at: 8),
    Refused(#""\ud800\u0041""#, .loneSurrogate, at: 3),
    Refused(#""\ud800\ud800""#, .loneSurrogate, at: 3),
    Refused(#""\udc00\ud800""#, .loneSurrogate, at: 3),
    Refused(#""\ud800\u""#, .badEscape, at: 9),
    Refused(#""\ud800"#, .unexpectedEnd, at: 7),
    Refused(#""\ud800\"#, .unexpectedEnd, at: 8),
    Refused(#""\ud800\ud8"#, .unexpectedEnd, at: 11),
    Refused(#"{"\ud800":1}"#, .loneSurrogate, at: 4),
]

private let malformedUTF8: [Refused] = [
    .utf8(0x80),
    .utf8(0xBF),
    .utf8(0xC3),
    .utf8(0xC3, 0x28),
    .utf8(0xE2, 0x82),
    .utf8(0xE2, 0x28, 0xA1),
    .utf8(0xF0, 0x9F, 0x98),
    .utf8(0xF0, 0x28, 0x8C, 0xBC),
    // Overlong forms of '/', NUL, U+07FF and U+FFFF.
    .utf8(0xC0, 0xAF),
    .utf8(0xC1, 0xBF),
    .utf8(0xC0, 0x80),
    .utf8(0xE0, 0x80, 0xAF),
    .utf8(0xE0, 0x9F, 0xBF),
    .utf8(0xF0, 0x80, 0x80, 0xAF),
    .utf8(0xF0, 0x8F, 0xBF, 0xBF),
    .utf8(0xF8, 0x80, 0x80, 0x80, 0xAF),
    // Surrogates, and what is beyond the last scalar.
    .utf8(0xED, 0xA0, 0x80),
    .utf8(0xED, 0xBF, 0xBF),
    .utf8(0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80),
    .utf8(0xF4, 0x90, 0x80, 0x80),
    .utf8(0xF5, 0x80, 0x80, 0x80),
    .utf8(0xFE),
    .utf8(0xFF),
    // Where there is an escape as well, and in a key.
    .utf8(0x5C, 0x6E, 0xFF),
    .utf8(0xFF, 0x5C, 0x6E),
    .utf8(0xC3, 0x5C, 0x6E, 0xA9),
    Refused([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], .badUTF8, at: 2),
    Refused([0x5B, 0xE9, 0x5D], .unexpectedByte, at: 1),
]

@Suite struct JSONRefuseTests {
    @Test(arguments: structure)
    func `a text whose structure is not JSON is refused where it goes wrong`(_ example: Refused) {
        #expect(fault(example.bytes) == example.fault)
    }

    @Test(arguments: literalsAndNumbers)
    func `a literal or number that JSON does not have is refused`(_ example: Refused) {
        #expect(fault(example.bytes) == example.fault)
    }

    @Test(arguments: strings)
    func `a string that JSON does not have is refused`(_ example: Refused) {
        #expect(fault(example.bytes) == example.fault)
    }

    @Test(arguments: malformedUTF8)
    func `a string that is not well-formed UTF-8 is refused`(_ example: Refused) {
        #expect(fault(example.bytes) == example.fault)
    }

    @Test func `every control character has to be escaped`() {
        for byte in UInt8(0)..<0x20 {
            #expect(fault([0x22, 0x61, byte, 0x22]) == JSONError(offset: 2, reason: .controlCharacter))
        }
    }

    @Test func `the error words never quote the text`() {
        #expect(
            fault(Array(#"{"passcode": hunter2}"#.utf8))?.message
                == "malformed JSON at byte 13: this byte can't stand here"
        )
        #expect(JSONError.Reason.allCases.allSatisfy { !$0.rawValue.isEmpty })
    }
}

@Suite struct JSONHostileInputTests {
    private static let document = Array(
        #" {"jsonrpc":"2.0","id":-12,"m":["é€😀\ud83d\ude00\n",1.5e-3,true,false,null,{"":[]},9223372036854775808]} "#
            .utf8
    )

    @Test func `a document that is cut anywhere is refused`() throws {
        _ = try parse(Self.document)
        for count in 0..<(Self.document.count - 1) {
            #expect(fault(Array(Self.document.prefix(count))) != nil, "cut at \(count)")
        }
    }

    @Test func `a document ends too early wherever it is cut, even inside a literal or a scalar`() {
        let reasons = Set((0..<(Self.document.count - 1)).compactMap { fault(Array(Self.document.prefix($0)))?.reason })
        #expect(reasons == [.unexpectedEnd])
    }

    @Test func `a document with any byte replaced is read or refused, never a trap`() {
        for index in Self.document.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = Self.document
                changed[index] = byte
                if let fault = fault(changed) { #expect((0...changed.count).contains(fault.offset)) }
            }
        }
    }

    @Test func `random bytes are read or refused, never a trap`() {
        var random = SeededGenerator(seed: 1)
        let alphabet =
            Array(#"{}[]:,"\/-+.eE0123456789truefalsn ud8cDC"#.utf8) + [0x00, 0x0A, 0x80, 0xC3, 0xA9, 0xED, 0xA0, 0xFF]
        for round in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &random)
            let bytes =
                round % 2 == 0
                ? random.bytes(count) : (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            if let fault = fault(bytes) { #expect((0...count).contains(fault.offset)) }
        }
    }
}
