internal import CofferCore

/// A JSON value.
///
/// Strings and keys are equal only if their bytes are: Unicode's canonical equivalence, which Swift's `==` uses, would
/// equate different names.
package enum JSONValue: Sendable {
    /// The literal `null`.
    case null
    /// The literals `true` and `false`.
    case bool(Bool)
    /// A number without a fraction or an exponent that fits.
    case integer(Int64)
    /// Any other number. Only finite ones can be written.
    case number(Double)
    /// A text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// A list of named members.
    case object(JSONObject)
}

extension JSONValue: Equatable {
    /// Whether kind and content are the same; an integer never equals a number.
    package static func == (one: JSONValue, other: JSONValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one.hasSameBytes(as: other)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        default: false
        }
    }
}

extension JSONValue {
    /// The truth value, if it is one.
    package var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The integer, if it is one.
    package var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The text, if it is one.
    package var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The list, if it is one.
    package var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The object, if it is one.
    package var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }
}

extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// Makes a truth value.
    package init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Makes an integer.
    package init(integerLiteral value: Int64) { self = .integer(value) }

    /// Makes a text.
    package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Makes a list.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates an object; of equal keys, the last counts.
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}
