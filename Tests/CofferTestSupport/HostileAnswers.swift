package import CofferWire

/// Makes answers that conform to `proto-docs/openrpc.json`, with text that a terminal would interpret or
/// hide.
package struct HostileAnswers {
    /// What must not reach a terminal: a title, a colour, a line break, and invisible characters.
    package static let poison =
        "a\u{1B}]0;title\u{7}b\u{1B}[31mc\r\n\(forgery)\u{9B}31m\u{85}\u{7F}\u{8}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{200B}\u{FE0F}\u{AD}d"
    /// The start of a line that no program prints.
    package static let forgery = "FORGED"

    /// The index of the alternative to take, modulo their number.
    package let choice: Int
    /// Members with a fixed value.
    package let fixed: [String: JSONValue]
    /// The index of the constrained text that is hostile nevertheless.
    package let broken: Int?
    /// The number of constrained texts: words of an enumeration, and texts with a pattern.
    package private(set) var boundCount = 0

    private let schema: JSONSchema

    package init(_ document: JSONValue, choice: Int, fixed: [String: JSONValue] = [:], broken: Int? = nil) {
        schema = JSONSchema(document: document)
        self.choice = choice
        self.fixed = fixed
        self.broken = broken
    }

    /// A value with every member that the schema describes.
    package mutating func value(of schema: JSONValue) throws -> JSONValue {
        let all = try self.schema.merged(schema) { $0[choice % $0.count] }
        if let words = all["enum"]?.arrayValue { return bound(words[choice % words.count]) }
        let types = all["type"].map { $0.arrayValue ?? [$0] } ?? [all["properties"] == nil ? "string" : "object"]
        switch types[choice % types.count].stringValue {
        case "object": return .object(try object(all))
        case "array": return .array(try all["items"].map { [try value(of: $0)] } ?? [])
        case "integer", "number": return .integer(max(1, all["minimum"]?.integerValue ?? 1))
        case "boolean": return .bool(choice.isMultiple(of: 2))
        case "null": return .null
        default:
            guard let pattern = all["pattern"]?.stringValue else { return .string(Self.poison) }
            return bound(.string(try text(of: pattern)))
        }
    }

    private mutating func object(_ all: JSONObject) throws -> JSONObject {
        var object = JSONObject()
        for (key, part) in all["properties"]?.objectValue?.members ?? [] {
            object.set(key, try fixed[key] ?? value(of: part))
        }
        if let other = all["additionalProperties"], other.boolValue == nil {
            object.set(Self.poison, try value(of: other))
        }
        return object
    }

    private mutating func bound(_ value: JSONValue) -> JSONValue {
        defer { boundCount += 1 }
        return boundCount == broken ? .string(Self.poison) : value
    }

    /// The most hostile text that matches a pattern.
    private func text(of pattern: String) throws -> String {
        for text in [Self.poison, "unit:\(Self.poison)", "unit:ci.service", String(repeating: "a1", count: 16), "AAAA"]
        {
            if text.contains(try Regex(pattern).matchingSemantics(.unicodeScalar)) { return text }
        }
        throw OpenRPC.Missing(what: "a text of the form \(pattern)")
    }

    /// A value with the required members only, and empty lists.
    package func least(of schema: JSONValue) throws -> JSONValue {
        var answers = HostileAnswers(self.schema.document, choice: choice, fixed: fixed)
        let all = try self.schema.merged(schema) { $0[choice % $0.count] }
        let required = Set((all["required"]?.arrayValue ?? []).compactMap(\.stringValue))
        var object = JSONObject()
        for (key, value) in try answers.value(of: schema).objectValue?.members ?? [] where required.contains(key) {
            object.set(key, value.arrayValue != nil ? [] : key == "bytes" ? 0 : value)
        }
        return .object(object)
    }
}
