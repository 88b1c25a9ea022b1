import CofferCore
import CofferWire
import Testing

struct Accepted: Sendable, CustomTestStringConvertible {
    let text: String
    let value: JSONValue

    init(_ text: String, _ value: JSONValue) {
        self.text = text
        self.value = value
    }

    var testDescription: String { text }
}

private let accepted: [Accepted] = [
    // Literals and white space.
    Accepted("null", .null),
    Accepted("true", true),
    Accepted("false", false),
    Accepted(" \t\r\nnull\n\r\t ", .null),
    Accepted("\u{20}[\u{9}]\u{A}", []),
    // Numbers.
    Accepted("0", 0),
    Accepted("-0", 0),
    Accepted("1", 1),
    Accepted("-1", -1),
    Accepted("1234567890", 1_234_567_890),
    Accepted("9223372036854775807", .integer(.max)),
    Accepted("-9223372036854775808", .integer(.min)),
    Accepted("9223372036854775808", .number(9_223_372_036_854_775_808)),
    Accepted("-9223372036854775809", .number(-9_223_372_036_854_775_808)),
    Accepted("18446744073709551616", .number(18_446_744_073_709_551_616)),
    Accepted("100000000000000000000000000000", .number(1e29)),
    Accepted("0.0", .number(0)),
    Accepted("-0.0", .number(-0.0)),
    Accepted("0.5", .number(0.5)),
    Accepted("-0.25", .number(-0.25)),
    Accepted("1.0", .number(1)),
    Accepted("3.141592653589793", .number(.pi)),
    Accepted("0e1", .number(0)),
    Accepted("0E+1", .number(0)),
    Accepted("1e2", .number(100)),
    Accepted("1E2", .number(100)),
    Accepted("1e+2", .number(100)),
    Accepted("1e-2", .number(0.01)),
    Accepted("1.5e00003", .number(1500)),
    Accepted("123.456e-789", .number(0)),
    Accepted("1.7976931348623157e308", .number(.greatestFiniteMagnitude)),
    Accepted("5e-324", .number(.leastNonzeroMagnitude)),
    Accepted("0.00000000000000000000000000000000000000000000000000000000000000000000000000000001", .number(1e-80)),
    // Strings.
    Accepted(#""""#, ""),
    Accepted(#""a""#, "a"),
    Accepted(#"" ""#, " "),
    Accepted(
        #""a long string that does not fit into fifteen bytes""#,
        "a long string that does not fit into fifteen bytes"
    ),
    Accepted(#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
    Accepted(#""a\nb\nc""#, "a\nb\nc"),
    Accepted(#""\u0061""#, "a"),
    Accepted(#""\u0000""#, "\0"),
    Accepted(#""\u00e9\u00E9""#, "éé"),
    Accepted(#""\u20ac""#, "€"),
    Accepted(#""\uD834\uDD1E""#, "\u{1D11E}"),
    Accepted(#""\ud800\udc00""#, "\u{10000}"),
    Accepted(#""\udbff\udfff""#, "\u{10FFFF}"),
    Accepted(#""x\u0061\ud83d\ude00y""#, "xa😀y"),
    Accepted(#""\\u0061""#, "\\u0061"),
    Accepted("\"é€😀\"", "é€😀"),
    Accepted("\"\u{7F}\"", "\u{7F}"),
    Accepted("\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"),
    Accepted("\"\u{FEFF}\"", "\u{FEFF}"),
    Accepted("\"\u{D7FF}\u{E000}\u{10FFFF}\"", "\u{D7FF}\u{E000}\u{10FFFF}"),
    // Arrays.
    Accepted("[]", []),
    Accepted("[ ]", []),
    Accepted("[1]", [1]),
    Accepted("[1 , 2,3]", [1, 2, 3]),
    Accepted("[[],[[]],{}]", [[], [[]], [:]]),
    Accepted(#"[null,true,false,0,"x"]"#, [.null, true, false, 0, "x"]),
    // Objects.
    Accepted("{}", [:]),
    Accepted("{ }", [:]),
    Accepted(#"{"a":1}"#, ["a": 1]),
    Accepted(#" { "a" : 1 , "b" : [ ] } "#, ["a": 1, "b": []]),
    Accepted(#"{"":0}"#, ["": 0]),
    Accepted(#"{"a":{"a":{"a":null}}}"#, ["a": ["a": ["a": .null]]]),
    Accepted(#"{"a\u0000b":1,"a":2}"#, ["a\0b": 1, "a": 2]),
    Accepted(#"{"A":1,"a":2}"#, ["A": 1, "a": 2]),
]

@Suite struct JSONAcceptTests {
    @Test(arguments: accepted)
    func `a text of RFC 8259 is parsed as its value`(_ example: Accepted) throws {
        #expect(try parse(example.text) == example.value)
    }

    @Test func `minus zero with a fraction keeps its sign`() throws {
        #expect(try parse("-0.0") == .number(-0.0))
        guard case .number(let number) = try parse("-0.0") else {
            Issue.record("not a number")
            return
        }
        #expect(number.sign == .minus)
    }

    @Test func `noncharacters are characters`() throws {
        // Swift's literals can't spell them.
        let expected = [0xFFFE, 0xFFFF, 0xFDD0].compactMap(Unicode.Scalar.init(_:)).map(String.init).joined()
        #expect(try parse(#""\uFFFE\uFFFF\uFDD0""#) == .string(expected))
        #expect(try parse("\"\(expected)\"") == .string(expected))
    }

    @Test func `members keep their order`() throws {
        let members = try #require(try parse(#"{"z":1,"a":2,"m":3}"#).objectValue).members
        #expect(members.map(\.key) == ["z", "a", "m"])
    }

    @Test func `canonically equivalent keys are two keys`() throws {
        let object = try #require(try parse("{\"\u{E9}\":1,\"e\u{301}\":2}").objectValue)
        #expect(object["\u{E9}"] == 1)
        #expect(object["e\u{301}"] == 2)
    }

    @Test func `canonically equivalent strings are two strings`() {
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
    }

    @Test(arguments: ["[", "{\"a\":"])
    func `containers nest as deeply as the limit says, and no deeper`(_ opening: String) throws {
        func nested(_ depth: Int) -> [UInt8] {
            let closing = opening == "[" ? "]" : "}"
            let core = opening == "[" ? "" : "0"
            return Array(
                (String(repeating: opening, count: depth) + core + String(repeating: closing, count: depth)).utf8
            )
        }
        #expect(Limits.jsonDepth == 32)
        #expect(fault(nested(31)) == nil)
        #expect(fault(nested(32)) == nil)
        #expect(fault(nested(33)) == JSONError(offset: 32 * opening.utf8.count, reason: .tooDeep))
        #expect(fault(nested(10_000))?.reason == .tooDeep)
    }

    @Test func `depth counts what is open, not what was`() throws {
        let siblings = String(repeating: "[[]],", count: 100)
        #expect(try parse("[\(siblings)0]").arrayValue?.count == 101)
    }

    @Test(arguments: [15, 16, 17, 18, 500])
    func `an object of many keys is read, and a duplicate in it is noticed`(_ count: Int) throws {
        let members = (0..<count).map { "\"key \($0)\":\($0)" }.joined(separator: ",")
        let object = try #require(try parse("{\(members)}").objectValue)
        #expect(object.members.count == count)
        #expect(object["key \(count - 1)"] == .integer(Int64(count - 1)))
        for duplicate in [0, count / 2, count - 1] {
            #expect(fault(Array("{\(members),\"key \(duplicate)\":0}".utf8))?.reason == .duplicateKey)
        }
    }
}
