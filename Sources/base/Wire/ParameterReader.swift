package import CofferCore
internal import CofferMemory

/// Reads the parameters of a request by name and type, and records which were read, so that ``finish()`` can refuse
/// unknown ones: a misspelt parameter must not seem to have been obeyed.
///
/// `null` counts as absent where ``JSONObject/refuseNulls(at:exceptInside:)`` lets it pass. A number with a fraction or an exponent is not an integer. Every error is `param`, names
/// the parameter and says what was expected.
package struct ParameterReader: Sendable {
    private let params: JSONObject
    private var known: [String] = []
    private let refusesUnknown: Bool
    /// The place of the member behind the last one that was read.
    private var next = 0

    /// Begins to read parameters.
    ///
    /// - Parameter refusesUnknown: Whether ``finish()`` will be called: a result may have members that are not known.
    package init(_ params: JSONObject, refusesUnknown: Bool = true) {
        self.params = params
        self.refusesUnknown = refusesUnknown
        // Most methods have no more.
        if refusesUnknown { known.reserveCapacity(8) }
    }

    /// Reads a required text.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The text, possibly empty.
    /// - Throws: `param` if it is absent or of another type.
    package mutating func string(_ key: String) throws(CofferError) -> String {
        try required(key, optionalString(key), "a string")
    }

    /// Reads an optional text.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The text, or `nil` if it is absent.
    /// - Throws: `param` if it is of another type.
    package mutating func optionalString(_ key: String) throws(CofferError) -> String? {
        try optional(key, "a string") { $0.stringValue }
    }

    /// Reads a required integer.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - range: The allowed values.
    /// - Returns: The integer.
    /// - Throws: `param` if it is absent, of another type, or out of range.
    package mutating func integer(
        _ key: String,
        in range: ClosedRange<Int64> = Int64.min...Int64.max
    ) throws(CofferError) -> Int64 {
        try required(key, optionalInteger(key, in: range), Self.describe(range))
    }

    /// Reads an optional integer.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - range: The allowed values.
    /// - Returns: The integer, or `nil` if it is absent.
    /// - Throws: `param` if it is of another type, or out of range.
    package mutating func optionalInteger(
        _ key: String,
        in range: ClosedRange<Int64> = Int64.min...Int64.max
    ) throws(CofferError) -> Int64? {
        try optional(key, Self.describe(range)) { json in
            json.integerValue.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Reads an optional truth value.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The truth value, or `nil` if it is absent.
    /// - Throws: `param` if it is of another type.
    package mutating func optionalBool(_ key: String) throws(CofferError) -> Bool? {
        try optional(key, "true or false") { $0.boolValue }
    }

    /// Reads an optional name of an enumeration.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - type: The enumeration.
    /// - Returns: Its case, or `nil` if it is absent.
    /// - Throws: `param`, listing the names, if it is anything else.
    package mutating func value<Value: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        as type: Value.Type
    ) throws(CofferError) -> Value? {
        try optional(key, "one of \(type.allCases.quoted)") { Value(word: $0) }
    }

    /// Reads a required list of texts.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The texts, possibly none.
    /// - Throws: `param` if it is absent or of another type.
    package mutating func strings(_ key: String) throws(CofferError) -> [String] {
        try required(key, optionalStrings(key), "an array of strings")
    }

    /// Reads an optional list of texts.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The texts, or `nil` if it is absent.
    /// - Throws: `param` if it is of another type.
    package mutating func optionalStrings(_ key: String) throws(CofferError) -> [String]? {
        try optional(key, "an array of strings") { $0.elements { $0.stringValue } }
    }

    /// Reads the optional identifier of a request.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The identifier, or `nil` if it is absent.
    /// - Throws: `param` if it is of another type.
    package mutating func optionalID(_ key: String) throws(CofferError) -> RequestID? {
        try optional(key, "the identifier of a request") { RequestID($0) }
    }

    /// Reads a required list of objects of one type.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - type: The type of the objects.
    /// - Returns: The values, possibly none.
    /// - Throws: `param` if it is absent or of another type, `protocolViolation` if an object is not of that type.
    package mutating func values<Value: WireObject>(_ key: String, of type: Value.Type) throws(CofferError) -> [Value] {
        try list(key, of: "objects", { $0.objectValue }).map { (object) throws(CofferError) in
            try Value(result: .object(object))
        }
    }

    /// Reads an optional list of objects of one type.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - type: The type of the objects.
    /// - Returns: The values; none if the list is absent.
    /// - Throws: `param` if it is of another type, `protocolViolation` if an object is not of that type.
    package mutating func optionalValues<Value: WireObject>(
        _ key: String,
        of type: Value.Type
    ) throws(CofferError) -> [Value] {
        take(key) == nil ? [] : try values(key, of: type)
    }

    /// Reads an optional object of a type.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - type: The type of the object.
    /// - Returns: The value, or `nil` if it is absent.
    /// - Throws: `param` if it is not an object, `protocolViolation` if it is not of that type.
    package mutating func value<Value: WireObject>(_ key: String, of type: Value.Type) throws(CofferError) -> Value? {
        try optionalObject(key).map { (object) throws(CofferError) in try Value(result: .object(object)) }
    }

    /// Reads a required list of integers.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The integers, possibly none.
    /// - Throws: `param` if it is absent or of another type.
    package mutating func integers(_ key: String) throws(CofferError) -> [Int64] {
        try list(key, of: "integers") { $0.integerValue }
    }

    /// Reads an optional object.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The object, or `nil` if it is absent.
    /// - Throws: `param` if it is of another type.
    package mutating func optionalObject(_ key: String) throws(CofferError) -> JSONObject? {
        try optional(key, "an object") { $0.objectValue }
    }

    /// Reads required bytes.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The bytes, possibly none.
    /// - Throws: `param` if they are absent, or not base64.
    package mutating func bytes(_ key: String) throws(CofferError) -> [UInt8] {
        let text = try required(key, optionalString(key), "a string of base64")
        guard let bytes = Base64.decode(text) else { throw Self.mismatch(key, "a string of base64") }
        return bytes
    }

    /// Ends reading.
    ///
    /// - Throws: `param`, naming the first parameter that was not read.
    package func finish() throws(CofferError) {
        for member in params.list where !known.contains(where: { $0.hasSameBytes(as: member.key) }) {
            throw CofferError(
                .param,
                "unknown parameter \(quotedForDisplay(member.key))",
                hint: known.isEmpty
                    ? "there are no parameters here"
                    : "the parameters here are " + known.map { "'\($0)'" }.joined(separator: ", ")
            )
        }
    }

    /// Takes the value of a parameter; `nil` if it is absent.
    mutating func take(_ key: String) -> JSONValue? {
        if refusesUnknown { known.append(key) }
        guard let place = params.place(of: key, after: next) else { return nil }
        next = place + 1
        let value = params.list[place].value
        if case .null = value { return nil }
        return value
    }

    /// The value of a parameter that must not be absent.
    func required<Value>(
        _ key: String,
        _ value: Value?,
        _ expectation: @autoclosure () -> String
    ) throws(CofferError) -> Value {
        if let value { return value }
        throw CofferError(.param, "parameter '\(key)' is missing: expected \(expectation())")
    }

    /// Reads a value in its own way; `nil` if it is absent.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - expectation: What is expected, for a sentence.
    ///   - read: Returns `nil` for anything else.
    mutating func optional<Value>(
        _ key: String,
        _ expectation: @autoclosure () -> String,
        _ read: (JSONValue) -> Value?
    ) throws(CofferError) -> Value? {
        guard let json = take(key) else { return nil }
        if let value = read(json) { return value }
        throw Self.mismatch(key, expectation())
    }

    private mutating func list<Element>(
        _ key: String,
        of kind: String,
        _ read: (JSONValue) -> Element?
    ) throws(CofferError) -> [Element] {
        if let elements = take(key)?.elements(read) { return elements }
        throw Self.mismatch(key, "an array of \(kind)")
    }

    private static func describe(_ range: ClosedRange<Int64>) -> String {
        switch (range.lowerBound, range.upperBound) {
        case (.min, .max): "a whole number"
        case (let lowest, .max): "a whole number from \(lowest) on"
        case (.min, let highest): "a whole number up to \(highest)"
        case (let lowest, let highest): "a whole number from \(lowest) to \(highest)"
        }
    }

    /// The error for a parameter of another type.
    static func mismatch(_ key: String, _ expectation: String) -> CofferError {
        CofferError(.param, "parameter '\(key)': expected \(expectation)")
    }
}

extension JSONValue {
    /// The elements, if it is a list and each of them can be read.
    func elements<Element>(_ read: (JSONValue) -> Element?) -> [Element]? {
        guard let all = arrayValue else { return nil }
        let elements = all.compactMap(read)
        return elements.count == all.count ? elements : nil
    }
}

extension RawRepresentable<String> where Self: CaseIterable {
    /// Finds the case of a name; compared as bytes, as keys are: `init(rawValue:)` accepts canonical equivalents.
    init?(word json: JSONValue) {
        guard let name = json.stringValue, let match = Self(rawValue: name), match.rawValue.hasSameBytes(as: name)
        else { return nil }
        self = match
    }
}

extension Sequence where Element: RawRepresentable<String> {
    /// The names in quotes, for a sentence.
    var quoted: String { map { "'\($0.rawValue)'" }.joined(separator: ", ") }
}
