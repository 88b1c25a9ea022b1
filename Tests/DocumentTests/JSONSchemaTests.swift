import CofferTestSupport
import CofferWire
import Testing

/// The checker of schemas, alone.
@Suite struct JSONSchemaTests {
    /// A schema, values that it takes, and values that it does not.
    struct Vector: CustomTestStringConvertible, Sendable {
        let schema: String
        let taken: [String]
        let refused: [String]
        var testDescription: String { schema }
    }

    static let vectors = [
        Vector(schema: "true", taken: ["1", "null"], refused: []),
        Vector(schema: "false", taken: [], refused: ["1", "null"]),
        Vector(schema: #"{"type":"integer"}"#, taken: ["0", "-1"], refused: ["1.5", "1.0", "\"1\"", "null", "true"]),
        Vector(schema: #"{"type":"number"}"#, taken: ["0", "1.5"], refused: ["\"1\""]),
        Vector(schema: #"{"type":"boolean"}"#, taken: ["true", "false"], refused: ["0", "null", "\"true\""]),
        Vector(schema: #"{"type":["null","string"]}"#, taken: ["null", "\"\""], refused: ["0", "[]"]),
        Vector(schema: #"{"type":"object"}"#, taken: ["{}", #"{"a":1}"#], refused: ["[]", "null"]),
        Vector(schema: #"{"type":"array"}"#, taken: ["[]"], refused: ["{}"]),
        Vector(
            schema: #"{"minimum":1,"maximum":3}"#,
            taken: ["1", "3", "\"no number\""],
            refused: ["0", "4", "-9223372036854775808"]
        ),
        Vector(
            schema: #"{"minLength":1,"maxLength":2}"#,
            taken: ["\"a\"", "\"\u{1F600}\u{1F600}\"", "7"],
            refused: ["\"\"", "\"abc\"", "\"e\u{301}a\""]
        ),
        Vector(schema: #"{"enum":["a",2]}"#, taken: ["\"a\"", "2"], refused: ["\"b\"", "\"2\"", "null"]),
        Vector(
            schema: #"{"pattern":"^[0-9a-f]{2}$"}"#,
            taken: ["\"0f\"", "7"],
            refused: [#""0f\n""#, "\"0F\"", "\"0f0\"", "\"\""]
        ),
        Vector(schema: #"{"pattern":"b"}"#, taken: ["\"abc\""], refused: ["\"ac\""]),
        Vector(schema: #"{"items":{"type":"integer"}}"#, taken: ["[]", "[1,2]", "{}"], refused: ["[1,\"a\"]"]),
        Vector(schema: #"{"minItems":1,"maxItems":2}"#, taken: ["[1]", "[1,1]"], refused: ["[]", "[1,2,3]"]),
        Vector(schema: #"{"uniqueItems":true}"#, taken: ["[]", "[1,2,\"1\"]"], refused: ["[1,2,1]"]),
        Vector(
            schema: #"{"required":["a"],"properties":{"a":{"type":"integer"},"b":false}}"#,
            taken: [#"{"a":1}"#, #"{"a":1,"c":2}"#, "[]"],
            refused: ["{}", #"{"a":"x"}"#, #"{"a":1,"b":1}"#]
        ),
        Vector(
            schema: #"{"properties":{"a":true},"additionalProperties":false}"#,
            taken: ["{}", #"{"a":1}"#],
            refused: [#"{"b":1}"#]
        ),
        Vector(
            schema: #"{"additionalProperties":{"type":"string"},"maxProperties":1,"propertyNames":{"minLength":1}}"#,
            taken: ["{}", #"{"a":"b"}"#],
            refused: [#"{"a":1}"#, #"{"":"b"}"#, #"{"a":"","b":""}"#]
        ),
        Vector(schema: #"{"allOf":[{"minimum":1},{"maximum":2}]}"#, taken: ["1", "2"], refused: ["0", "3"]),
        Vector(schema: #"{"anyOf":[{"minimum":5},{"maximum":2}]}"#, taken: ["1", "6"], refused: ["3"]),
        Vector(schema: #"{"oneOf":[{"minimum":1},{"maximum":2}]}"#, taken: ["0", "3"], refused: ["1", "2"]),
        Vector(schema: ##"{"$ref":"#/small","minimum":0}"##, taken: ["0", "9"], refused: ["-1", "10"]),
    ]

    @Test(arguments: vectors)
    func `a schema takes what it says, and nothing else`(vector: Vector) throws {
        let checker = JSONSchema(document: ["small": ["maximum": 9]])
        let schema = try Self.json(vector.schema)
        for text in vector.taken { #expect(try checker.faults(of: Self.json(text), schema) == [], "\(text)") }
        for text in vector.refused { #expect(try !checker.faults(of: Self.json(text), schema).isEmpty, "\(text)") }
    }

    @Test func `an undescribed member is reported if requested, at every depth`() throws {
        let schema = try Self.json(
            #"{"allOf":[{"properties":{"a":true}}],"oneOf":[{"required":["b"],"properties":{"b":true}},{"required":["x"]}],"properties":{"c":{"properties":{"d":true}}}}"#
        )
        let checker = JSONSchema(document: [:], tellsUnknown: true)
        #expect(try checker.faults(of: Self.json(#"{"a":1,"b":2,"c":{"d":1}}"#), schema) == [])
        let found = try checker.faults(of: Self.json(#"{"a":1,"b":2,"c":{"e":1},"f":1}"#), schema)
        #expect(found == ["/c/e: nothing describes it", "/f: nothing describes it"])
    }

    @Test func `a reference that leads nowhere is an error`() {
        #expect(throws: OpenRPC.Missing.self) {
            try JSONSchema(document: [:]).faults(of: 1, ["$ref": "#/nobody"])
        }
    }

    static func json(_ text: String) throws -> JSONValue {
        let bytes = Array(text.utf8)
        return try JSONValue(parsing: bytes.span.bytes)
    }
}
