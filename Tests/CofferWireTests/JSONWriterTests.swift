import CofferTestSupport
import CofferWire
import Testing

@Suite struct JSONWriterTests {
    @Test(
        arguments: [
            (JSONValue.null, "null"),
            (true, "true"),
            (false, "false"),
            (0, "0"),
            (.integer(.min), "-9223372036854775808"),
            (.integer(.max), "9223372036854775807"),
            (.number(1), "1.0"),
            (.number(-0.0), "-0.0"),
            (.number(0.1), "0.1"),
            (.number(1e100), "1e+100"),
            (.number(.infinity), "null"),
            (.number(.nan), "null"),
            ("", #""""#),
            ("plain", #""plain""#),
            ("\"\\/", #""\"\\/""#),
            ("\u{8}\u{9}\u{A}\u{C}\u{D}", #""\b\t\n\f\r""#),
            ("\u{0}\u{1}\u{B}\u{F}\u{10}\u{1F}\u{7F}", "\"\\u0000\\u0001\\u000b\\u000f\\u0010\\u001f\u{7F}\""),
            ("é€😀", "\"é€😀\""),
            ("é\n", "\"é\\n\""),
            ([], "[]"),
            ([1, [2, []]], "[1,[2,[]]]"),
            ([:], "{}"),
            (["b": 1, "a": ["c\"": .null]], #"{"b":1,"a":{"c\"":null}}"#),
        ] as [(JSONValue, String)]
    )
    func `a value is written without white space`(_ value: JSONValue, _ expected: String) {
        #expect(text(value.serialized()) == expected)
    }

    @Test func `what was written is read as the same value, and written as the same bytes`() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<2000 {
            let value = randomValue(depth: 4, using: &random)
            let bytes = value.serialized()
            let again = try parse(bytes)
            #expect(again == value)
            #expect(again.serialized() == bytes)
        }
    }

    @Test func `every finite double is read back bit by bit`() throws {
        var random = SeededGenerator(seed: 3)
        let corners: [Double] = [
            0, -0.0, .pi, .ulpOfOne, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, 1e15,
            1e16,
            1e17, 9_007_199_254_740_992, 0.1 + 0.2, 1e21, 1e-7, 123_456_789_012_345_680,
        ]
        let others = (0..<20_000).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
        for number in corners + others {
            guard case .number(let again) = try parse(JSONValue.number(number).serialized()) else {
                Issue.record("\(number) was not read as a number")
                continue
            }
            #expect(again.bitPattern == number.bitPattern)
        }
    }

    @Test func `several values go into one writer`() {
        var writer = JSONWriter(capacity: 8)
        writer.write(.integer(1))
        writer.write("a")
        writer.write([.null])
        writer.write(["k": true] as JSONObject)
        #expect(text(writer.bytes) == #"1"a"[null]{"k":true}"#)
    }
}

@Suite struct JSONObjectTests {
    @Test func `setting a member keeps its place`() {
        var object: JSONObject = ["a": 1, "b": 2]
        object.set("a", 3)
        object.set("c", 4)
        #expect(object == ["a": 3, "b": 2, "c": 4])
        #expect(object["d"] == nil)
    }

    @Test func `of equal keys in a literal the last counts`() {
        #expect((["a": 1, "b": 2, "a": 3] as JSONObject) == ["a": 3, "b": 2])
    }

    @Test func `a value answers for its own kind only`() {
        let values: [JSONValue] = [.null, true, 1, .number(1), "x", [1], ["k": 1]]
        #expect(values.map(\.boolValue) == [nil, true, nil, nil, nil, nil, nil])
        #expect(values.map(\.integerValue) == [nil, nil, 1, nil, nil, nil, nil])
        #expect(values.map(\.stringValue) == [nil, nil, nil, nil, "x", nil, nil])
        #expect(values.map(\.arrayValue) == [nil, nil, nil, nil, nil, [1], nil])
        #expect(values.map(\.objectValue) == [nil, nil, nil, nil, nil, nil, ["k": 1]])
        for (index, value) in values.enumerated() {
            for (other, another) in values.enumerated() { #expect((value == another) == (index == other)) }
        }
    }
}
