package import CofferCore

/// Reads the parameters of a request by name and kind, and remembers what was asked for, so that ``finish()`` can refuse
/// what nobody knows: a misspelt parameter must not look as if it had been obeyed.
///
/// `null` counts as absent. An integer is never read from a number with a fraction or an exponent. Every error is
/// `param`, names the parameter and says what was expected.
package struct ParameterReader: Sendable {
    private let params: JSONObject
    private var known: [String] = []

    /// Begins to read.
    package init(_ params: JSONObject) { self.params = params }

    /// Reads a text that has to be there.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The text, possibly empty.
    /// - Throws: `param` where it is absent or something else.
    package mutating func string(_ key: String) throws(CofferError) -> String {
        try required(key, optionalString(key), "a string")
    }

    /// Reads a text that may be absent.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The text, or `nil` where there is none.
    /// - Throws: `param` where it is something else.
    package mutating func optionalString(_ key: String) throws(CofferError) -> String? {
        guard let value = take(key) else { return nil }
        guard let text = value.stringValue else { throw Self.mismatch(key, "a string") }
        return text
    }

    /// Reads an integer that has to be there.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - range: What it may be.
    /// - Returns: The integer.
    /// - Throws: `param` where it is absent, something else, or out of range.
    package mutating func integer(
        _ key: String,
        in range: ClosedRange<Int64> = Int64.min...Int64.max
    ) throws(CofferError) -> Int64 {
        try required(key, optionalInteger(key, in: range), Self.describe(range))
    }

    /// Reads an integer that may be absent.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - range: What it may be.
    /// - Returns: The integer, or `nil` where there is none.
    /// - Throws: `param` where it is something else, or out of range.
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

    /// Reads a truth value that may be absent.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The truth value, or `nil` where there is none.
    /// - Throws: `param` where it is something else.
    package mutating func optionalBool(_ key: String) throws(CofferError) -> Bool? {
        guard let value = take(key) else { return nil }
        guard let bool = value.boolValue else { throw Self.mismatch(key, "true or false") }
        return bool
    }

    /// Reads one of the names that an enumeration has; it may be absent.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - type: The enumeration.
    /// - Returns: Its case, or `nil` where there is none.
    /// - Throws: `param`, listing the names, where it is anything else.
    package mutating func value<Value: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        as type: Value.Type
    ) throws(CofferError) -> Value? {
        guard let value = take(key) else { return nil }
        // Compared as bytes, as keys are, rather than by `init(rawValue:)`, which takes canonical equivalents.
        guard let text = value.stringValue,
            let match = type.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) })
        else {
            throw Self.mismatch(key, "one of " + type.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", "))
        }
        return match
    }

    /// Reads a list of texts that has to be there.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The texts, possibly none.
    /// - Throws: `param` where it is absent or something else.
    package mutating func strings(_ key: String) throws(CofferError) -> [String] {
        try required(key, optionalStrings(key), "an array of strings")
    }

    /// Reads a list of texts that may be absent.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The texts, or `nil` where there is no list.
    /// - Throws: `param` where it is something else.
    package mutating func optionalStrings(_ key: String) throws(CofferError) -> [String]? {
        guard let value = take(key) else { return nil }
        guard let elements = value.arrayValue else { throw Self.mismatch(key, "an array of strings") }
        let texts = elements.compactMap(\.stringValue)
        guard texts.count == elements.count else { throw Self.mismatch(key, "an array of strings") }
        return texts
    }

    /// Reads the identifier of a request; it may be absent.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The identifier, or `nil` where there is none.
    /// - Throws: `param` where it is something else.
    package mutating func optionalID(_ key: String) throws(CofferError) -> RequestID? {
        guard let value = take(key) else { return nil }
        guard let id = RequestID(value) else { throw Self.mismatch(key, "the identifier of a request") }
        return id
    }

    /// Reads a list of objects that has to be there.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The objects, possibly none.
    /// - Throws: `param` where it is absent or something else.
    package mutating func objects(_ key: String) throws(CofferError) -> [JSONObject] {
        let elements = take(key)?.arrayValue
        let objects = elements?.compactMap(\.objectValue)
        guard let objects, objects.count == elements?.count else { throw Self.mismatch(key, "an array of objects") }
        return objects
    }

    /// Reads a list of objects of one kind, which has to be there.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - type: What the objects are.
    /// - Returns: What they describe, possibly nothing.
    /// - Throws: `param` where it is absent or something else, `protocolViolation` where one is not of that kind.
    package mutating func values<Value: WireObject>(_ key: String, of type: Value.Type) throws(CofferError) -> [Value] {
        try objects(key).map { (object) throws(CofferError) in try Value(result: .object(object)) }
    }

    /// Reads a list of objects of one kind, which may be absent.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - type: What the objects are.
    /// - Returns: What they describe; nothing if the list is absent.
    /// - Throws: `param` if it is something else, `protocolViolation` if one is not of that kind.
    package mutating func optionalValues<Value: WireObject>(
        _ key: String,
        of type: Value.Type
    ) throws(CofferError) -> [Value] {
        take(key) == nil ? [] : try values(key, of: type)
    }

    /// Reads an object of some kind, which may be absent.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - type: What the object is.
    /// - Returns: What it describes, or `nil` where there is none.
    /// - Throws: `param` where it is something else, `protocolViolation` where it is not of that kind.
    package mutating func value<Value: WireObject>(_ key: String, of type: Value.Type) throws(CofferError) -> Value? {
        try optionalObject(key).map { (object) throws(CofferError) in try Value(result: .object(object)) }
    }

    /// Reads a list of integers that has to be there.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The integers, possibly none.
    /// - Throws: `param` where it is absent or something else.
    package mutating func integers(_ key: String) throws(CofferError) -> [Int64] {
        let elements = take(key)?.arrayValue
        let integers = elements?.compactMap(\.integerValue)
        guard let integers, integers.count == elements?.count else {
            throw Self.mismatch(key, "an array of integers")
        }
        return integers
    }

    /// Reads an object that may be absent.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The object, or `nil` where there is none.
    /// - Throws: `param` where it is something else.
    package mutating func optionalObject(_ key: String) throws(CofferError) -> JSONObject? {
        guard let value = take(key) else { return nil }
        guard let object = value.objectValue else { throw Self.mismatch(key, "an object") }
        return object
    }

    /// Reads bytes that have to be there.
    ///
    /// - Parameter key: The name of the parameter.
    /// - Returns: The bytes, possibly none.
    /// - Throws: `param` where they are absent, or it is no base64.
    package mutating func bytes(_ key: String) throws(CofferError) -> [UInt8] {
        guard let bytes = Base64.decode(try required(key, optionalString(key), "a string of base64")) else {
            throw Self.mismatch(key, "a string of base64")
        }
        return bytes
    }

    /// Ends reading.
    ///
    /// - Throws: `param`, naming the first parameter that nobody asked for.
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

    /// Takes whatever is there; `nil` where there is nothing.
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

    /// The error for a parameter that is something else.
    static func mismatch(_ key: String, _ expectation: String) -> CofferError {
        CofferError(.param, "parameter '\(key)': expected \(expectation)")
    }
}
