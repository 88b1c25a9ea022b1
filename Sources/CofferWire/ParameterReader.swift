package import CofferCore

/// Reads the parameters of a request by name and type, and records which were read, so that ``finish()`` can refuse
/// unknown ones: a misspelt parameter must not seem to have been obeyed.
///
/// `null` counts as absent. A number with a fraction or an exponent is not an integer. Every error is `param`, names
/// the parameter and says what was expected.
package struct ParameterReader: Sendable {
    private let params: JSONObject
    private var known: [String] = []

    /// Begins to read parameters.
    package init(_ params: JSONObject) { self.params = params }

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
        guard let value = take(key) else { return nil }
        guard let text = value.stringValue else { throw Self.mismatch(key, "a string") }
        return text
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
        guard let value = take(key) else { return nil }
        guard let integer = value.integerValue, range.contains(integer) else {
            throw Self.mismatch(key, Self.describe(range))
        }
        return integer
    }

    /// Reads an optional truth value.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The truth value, or `nil` if it is absent.
    /// - Throws: `param` if it is of another type.
    package mutating func optionalBool(_ key: String) throws(CofferError) -> Bool? {
        guard let value = take(key) else { return nil }
        guard let bool = value.boolValue else { throw Self.mismatch(key, "true or false") }
        return bool
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
        guard let value = take(key) else { return nil }
        // Compared as bytes, as keys are: `init(rawValue:)` would accept canonical equivalents.
        guard let text = value.stringValue,
            let match = type.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) })
        else {
            throw Self.mismatch(key, "one of " + type.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", "))
        }
        return match
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
        guard let value = take(key) else { return nil }
        guard let elements = value.arrayValue else { throw Self.mismatch(key, "an array of strings") }
        let texts = elements.compactMap(\.stringValue)
        guard texts.count == elements.count else { throw Self.mismatch(key, "an array of strings") }
        return texts
    }

    /// Reads the optional identifier of a request.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The identifier, or `nil` if it is absent.
    /// - Throws: `param` if it is of another type.
    package mutating func optionalID(_ key: String) throws(CofferError) -> RequestID? {
        guard let value = take(key) else { return nil }
        guard let id = RequestID(value) else { throw Self.mismatch(key, "the identifier of a request") }
        return id
    }

    /// Reads a required list of objects.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The objects, possibly none.
    /// - Throws: `param` if it is absent or of another type.
    package mutating func objects(_ key: String) throws(CofferError) -> [JSONObject] {
        let elements = take(key)?.arrayValue
        let objects = elements?.compactMap(\.objectValue)
        guard let objects, objects.count == elements?.count else { throw Self.mismatch(key, "an array of objects") }
        return objects
    }

    /// Reads a required list of objects of one type.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - type: The type of the objects.
    /// - Returns: The values, possibly none.
    /// - Throws: `param` if it is absent or of another type, `protocolViolation` if an object is not of that type.
    package mutating func values<Value: WireObject>(_ key: String, of type: Value.Type) throws(CofferError) -> [Value] {
        try objects(key).map { (object) throws(CofferError) in try Value(result: .object(object)) }
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
        let elements = take(key)?.arrayValue
        let integers = elements?.compactMap(\.integerValue)
        guard let integers, integers.count == elements?.count else {
            throw Self.mismatch(key, "an array of integers")
        }
        return integers
    }

    /// Reads an optional object.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The object, or `nil` if it is absent.
    /// - Throws: `param` if it is of another type.
    package mutating func optionalObject(_ key: String) throws(CofferError) -> JSONObject? {
        guard let value = take(key) else { return nil }
        guard let object = value.objectValue else { throw Self.mismatch(key, "an object") }
        return object
    }

    /// Reads required bytes.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The bytes, possibly none.
    /// - Throws: `param` if they are absent, or not base64.
    package mutating func bytes(_ key: String) throws(CofferError) -> [UInt8] {
        guard let bytes = Base64.decode(try required(key, optionalString(key), "a string of base64")) else {
            throw Self.mismatch(key, "a string of base64")
        }
        return bytes
    }

    /// Ends reading.
    ///
    /// - Throws: `param`, naming the first parameter that was not read.
    package func finish() throws(CofferError) {
        for member in params.members where !known.contains(where: { $0.hasSameBytes(as: member.key) }) {
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
        known.append(key)
        let value = params[key]
        return value == .null ? nil : value
    }

    private func required<Value>(
        _ key: String,
        _ value: Value?,
        _ expectation: String
    ) throws(CofferError) -> Value {
        guard let value else { throw CofferError(.param, "parameter '\(key)' is missing: expected \(expectation)") }
        return value
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
