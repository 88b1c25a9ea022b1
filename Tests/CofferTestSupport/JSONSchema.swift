package import CofferWire
import Synchronization

/// Checks values against the part of JSON Schema, draft 2020-12, that `proto-docs/openrpc.json` uses.
package struct JSONSchema: Sendable {
    /// The document that `$ref` refers to.
    package let document: JSONValue
    /// Whether an undescribed member is a fault; for a client it is not.
    package var tellsUnknown = false
    private let patterns = PatternCache()

    /// How many elements of a list are checked: the first ones and the last.
    private let elementLimit: Int

    package init(document: JSONValue, tellsUnknown: Bool = false, elementLimit: Int = .max) {
        self.document = document
        self.tellsUnknown = tellsUnknown
        self.elementLimit = elementLimit
    }

    /// The supported keywords.
    package static let keywords: Set<String> = [
        "$ref", "additionalProperties", "allOf", "anyOf", "default", "description", "enum", "items", "maxItems",
        "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minimum", "not", "oneOf", "pattern",
        "properties",
        "propertyNames", "required", "type", "uniqueItems", "x-cases", "x-default", "x-limit", "x-page",
        "x-swift",
    ]

    /// The direct subschemas of a schema.
    package static func parts(of schema: JSONValue) -> [JSONValue] {
        guard let object = schema.objectValue else { return [] }
        let lists = ["allOf", "anyOf", "oneOf"].flatMap { object[$0]?.arrayValue ?? [] }
        let singles = ["additionalProperties", "items", "not", "propertyNames"].compactMap { object[$0] }
        return lists + singles + (object["properties"]?.objectValue?.members.map(\.value) ?? [])
    }

    /// The faults of a value; empty if it conforms.
    package func faults(of value: JSONValue, _ schema: JSONValue, at place: String = "") throws -> [String] {
        let outcome = try look(at: value, schema, place)
        guard tellsUnknown, let members = value.objectValue?.members else { return outcome.faults }
        let unknown = members.map(\.key).filter { !outcome.known.contains($0) }
        return outcome.faults + unknown.map { "\(place)/\($0): nothing describes it" }
    }

    /// The result of a check: the faults, and the described members.
    private struct Outcome {
        var faults: [String] = []
        var known: Set<String> = []
    }

    private func look(at value: JSONValue, _ schema: JSONValue, _ place: String) throws -> Outcome {
        if let isAllowed = schema.boolValue { return Outcome(faults: isAllowed ? [] : ["\(place): not allowed here"]) }
        guard let schema = schema.objectValue else { throw OpenRPC.Missing(what: "a schema at \(place)") }
        var outcome = Outcome()
        try combine(value, schema, place, &outcome)
        outcome.faults += Self.plainFaults(of: value, schema).map { "\(place): \($0)" }
        if let text = value.stringValue, let pattern = schema["pattern"]?.stringValue {
            if !text.contains(try patterns.regex(pattern)) {
                outcome.faults.append("\(place): not of the form \(pattern)")
            }
        }
        if let elements = value.arrayValue, let items = schema["items"] {
            for (index, element) in elements.enumerated()
            where index < elementLimit - 1 || index == elements.count - 1 {
                outcome.faults += try faults(of: element, items, at: "\(place)/\(index)")
            }
        }
        if let object = value.objectValue { try lookInside(object, schema, place, &outcome) }
        return outcome
    }

    /// Checks the schemas that apply in addition to this one.
    private func combine(
        _ value: JSONValue,
        _ schema: JSONObject,
        _ place: String,
        _ outcome: inout Outcome
    ) throws {
        var all = schema["allOf"]?.arrayValue ?? []
        if let reference = schema["$ref"]?.stringValue { all.append(try target(of: reference)) }
        for part in all {
            let found = try look(at: value, part, place)
            outcome.faults += found.faults
            outcome.known.formUnion(found.known)
        }
        if let refused = schema["not"], try look(at: value, refused, place).faults.isEmpty {
            outcome.faults.append("\(place): not: \(refused)")
        }
        for (keyword, isExclusive) in [("anyOf", false), ("oneOf", true)] {
            guard let parts = schema[keyword]?.arrayValue else { continue }
            let found = try parts.map { try look(at: value, $0, place) }
            let fitting = found.filter(\.faults.isEmpty)
            for part in fitting { outcome.known.formUnion(part.known) }
            if fitting.isEmpty { outcome.faults.append("\(place): \(keyword): \(found.flatMap(\.faults))") }
            if isExclusive && fitting.count > 1 { outcome.faults.append("\(place): \(keyword): \(fitting.count) fit") }
        }
    }

    private func lookInside(
        _ object: JSONObject,
        _ schema: JSONObject,
        _ place: String,
        _ outcome: inout Outcome
    ) throws {
        let properties = schema["properties"]?.objectValue ?? [:]
        for (key, value) in object.members {
            if let names = schema["propertyNames"] {
                outcome.faults += try faults(of: .string(key), names, at: "\(place)/\(key)")
            }
            guard let part = properties[key] ?? schema["additionalProperties"] else { continue }
            outcome.known.insert(key)
            outcome.faults += try faults(of: value, part, at: "\(place)/\(key)")
        }
    }

    /// Checks the keywords that need no other schema.
    private static func plainFaults(of value: JSONValue, _ schema: JSONObject) -> [String] {
        var faults: [String] = []
        func check(_ keyword: String, _ count: Int64?, _ isFine: (Int64, Int64) -> Bool) {
            guard let count, let bound = schema[keyword]?.integerValue, !isFine(count, bound) else { return }
            faults.append("\(count) is against \(keyword) \(bound)")
        }
        check("minimum", value.integerValue, >=)
        check("maximum", value.integerValue, <=)
        check("minLength", value.stringValue.map { Int64($0.unicodeScalars.count) }, >=)
        check("maxLength", value.stringValue.map { Int64($0.unicodeScalars.count) }, <=)
        check("minItems", value.arrayValue.map { Int64($0.count) }, >=)
        check("maxItems", value.arrayValue.map { Int64($0.count) }, <=)
        check("maxProperties", value.objectValue.map { Int64($0.members.count) }, <=)
        if let choices = schema["enum"]?.arrayValue, !choices.contains(value) { faults.append("none of \(choices)") }
        if let elements = value.arrayValue, schema["uniqueItems"] == true {
            let first = elements.enumerated().filter { elements.firstIndex(of: $1) == $0 }
            if first.count != elements.count { faults.append("the same element twice") }
        }
        let types = schema["type"].map { $0.arrayValue ?? [$0] }
        if let types, !types.contains(where: { isOfType(value, $0.stringValue) }) {
            faults.append("not of type \(types)")
        }
        for name in schema["required"]?.arrayValue ?? [] {
            guard let object = value.objectValue, let name = name.stringValue, object[name] == nil else { continue }
            faults.append("'\(name)' is missing")
        }
        return faults
    }

    /// Integers have no fraction or exponent: the protocol is stricter than the draft.
    private static func isOfType(_ value: JSONValue, _ name: String?) -> Bool {
        switch value {
        case .null: name == "null"
        case .bool: name == "boolean"
        case .integer: name == "integer" || name == "number"
        case .number: name == "number"
        case .string: name == "string"
        case .array: name == "array"
        case .object: name == "object"
        }
    }

    /// A schema merged with those that it references.
    ///
    /// - Parameter choose: Chooses one of several alternatives.
    package func merged(_ schema: JSONValue, _ choose: ([JSONValue]) -> JSONValue) throws -> JSONObject {
        var all = schema.objectValue ?? [:]
        var parts = all["allOf"]?.arrayValue ?? []
        if let reference = all["$ref"]?.stringValue { parts.append(try target(of: reference)) }
        for keyword in ["anyOf", "oneOf"] {
            if let several = all[keyword]?.arrayValue { parts.append(choose(several)) }
        }
        for part in parts { all = Self.join(all, try merged(part, choose)) }
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

    /// The target of a reference.
    package func target(of reference: String) throws -> JSONValue {
        guard reference.hasPrefix("#/") else { throw OpenRPC.Missing(what: reference) }
        var value = document
        for part in reference.dropFirst(2).split(separator: "/") {
            guard let next = value.objectValue?[String(part)] else { throw OpenRPC.Missing(what: reference) }
            value = next
        }
        return value
    }
}

/// A cache of compiled patterns, because compiling takes most of the time.
private final class PatternCache: Sendable {
    private struct Pattern: @unchecked Sendable {
        // Sendable: compiled once, and then only used for matching.
        let regex: Regex<AnyRegexOutput>
    }

    private let patterns = Mutex<[String: Pattern]>([:])

    func regex(_ text: String) throws -> Regex<AnyRegexOutput> {
        try patterns.withLock { patterns in
            if let known = patterns[text] { return known }
            let pattern = Pattern(regex: try Regex(text).matchingSemantics(.unicodeScalar))
            patterns[text] = pattern
            return pattern
        }.regex
    }
}
