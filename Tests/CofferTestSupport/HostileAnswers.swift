package import CofferWire

/// Makes answers that `proto-docs/openrpc.json` allows, with everything in each text that a terminal obeys or does not show.
package struct HostileAnswers {
    /// What a terminal must not get: a title, a colour, another line, and invisible characters.
    package static let poison =
        "a\u{1B}]0;title\u{7}b\u{1B}[31mc\r\n\(forgery)\u{9B}31m\u{85}\u{7F}\u{8}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}\u{200B}\u{FE0F}\u{AD}d"
    /// A line that no program has written begins so.
    package static let forgery = "FORGED"

    /// Which of several alternatives is taken, counted round.
    package let choice: Int
    /// Members that have a value of their own wherever they stand.
    package let fixed: [String: JSONValue]
    /// Of the texts that may not be anything, the number of the one that is poison all the same.
    package let broken: Int?
    /// The texts that may not be anything: words of a list, and those that have a form.
    package private(set) var boundCount = 0

    private let schema: JSONSchema

    package init(_ document: JSONValue, choice: Int, fixed: [String: JSONValue] = [:], broken: Int? = nil) {
        schema = JSONSchema(document: document)
        self.choice = choice
        self.fixed = fixed
        self.broken = broken
    }

    /// A value with all that the schema knows of.
    package mutating func value(of schema: JSONValue) throws -> JSONValue {
        let all = try merged(schema)
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

    /// A text of a form, as poisonous as it may be.
    private func text(of pattern: String) throws -> String {
        for text in [Self.poison, "unit:\(Self.poison)", "unit:ci.service", String(repeating: "a1", count: 16), "AAAA"]
        {
            if text.contains(try Regex(pattern).matchingSemantics(.unicodeScalar)) { return text }
        }
        throw OpenRPC.Missing(what: "a text of the form \(pattern)")
    }

    /// A schema with those that it leads to.
    private func merged(_ schema: JSONValue) throws -> JSONObject {
        var all = schema.objectValue ?? [:]
        var parts = all["allOf"]?.arrayValue ?? []
        if let reference = all["$ref"]?.stringValue { parts.append(try self.schema.target(of: reference)) }
        for keyword in ["anyOf", "oneOf"] {
            if let several = all[keyword]?.arrayValue { parts.append(several[choice % several.count]) }
        }
        for part in parts { all = Self.join(all, try merged(part)) }
        return all
    }

    private static func join(_ one: JSONObject, _ other: JSONObject) -> JSONObject {
        var all = one
        for (key, value) in other.members where key != "properties" { all.set(key, value) }
        guard let more = other["properties"]?.objectValue else { return all }
        var properties = one["properties"]?.objectValue ?? [:]
        for (key, value) in more.members { properties.set(key, value) }
        all.set("properties", .object(properties))
        return all
    }

    /// A value with what has to be there only, and nothing in a list.
    package func least(of schema: JSONValue) throws -> JSONValue {
        var answers = HostileAnswers(self.schema.document, choice: choice, fixed: fixed)
        let all = try merged(schema)
        let required = Set((all["required"]?.arrayValue ?? []).compactMap(\.stringValue))
        var object = JSONObject()
        for (key, value) in try answers.value(of: schema).objectValue?.members ?? [] where required.contains(key) {
            object.set(key, value.arrayValue != nil ? [] : key == "bytes" ? 0 : value)
        }
        return .object(object)
    }
}
