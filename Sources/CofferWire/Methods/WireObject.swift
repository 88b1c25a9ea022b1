package import CofferCore

/// A value that travels as a JSON object: the parameters of a method, or its result.
package protocol WireObject: Sendable {
    /// Reads the members it knows.
    ///
    /// - Parameter reader: The object.
    init(reading reader: inout ParameterReader) throws(CofferError)

    /// The object. Members without a value are left out.
    var json: JSONObject { get }
}

extension WireObject {
    /// Reads the parameters of a request: a member that the method does not know is an error.
    ///
    /// - Parameter params: The object.
    package init(params: JSONObject) throws(CofferError) {
        var reader = ParameterReader(params)
        try self.init(reading: &reader)
        try reader.finish()
    }

    /// Reads the result of a request: a member that a newer daemon added is passed over.
    ///
    /// - Parameter result: The value.
    package init(result: JSONValue) throws(CofferError) {
        guard let object = result.objectValue else {
            throw CofferError(.protocolViolation, "the daemon's answer is not an object")
        }
        var reader = ParameterReader(object)
        do throws(CofferError) {
            try self.init(reading: &reader)
        } catch {
            throw CofferError(.protocolViolation, "the daemon's answer makes no sense: \(error.message)")
        }
    }
}

/// No parameters, or no result.
package struct Nothing: WireObject {
    package init() {}
    package init(reading reader: inout ParameterReader) {}
    package var json: JSONObject { [:] }
}

extension JSONObject {
    /// Sets a member that may have no value.
    mutating func set(_ key: String, _ value: String?) {
        if let value { set(key, .string(value)) }
    }

    mutating func set(_ key: String, _ value: Int64?) {
        if let value { set(key, .integer(value)) }
    }

    mutating func set(_ key: String, _ value: Int?) { set(key, value.map(Int64.init)) }

    mutating func set(_ key: String, _ value: Bool?) {
        if let value { set(key, .bool(value)) }
    }
}

extension ParameterReader {
    /// Reads one of the names that an enumeration has, which has to be there.
    mutating func required<Value: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        as type: Value.Type
    ) throws(CofferError) -> Value {
        if let value = try value(key, as: type) { return value }
        let names = type.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        throw CofferError(.param, "parameter '\(key)' is missing: expected one of \(names)")
    }

    /// Reads the digits of an identifier; it may be absent.
    mutating func optionalItemID(_ key: String) throws(CofferError) -> ItemID? {
        guard let text = try optionalString(key) else { return nil }
        guard let id = ItemID(hexadecimal: text) else {
            throw CofferError(.param, "parameter '\(key)': expected 32 lower-case hexadecimal digits")
        }
        return id
    }

    /// Reads the digits of an identifier, which has to be there.
    mutating func itemID(_ key: String) throws(CofferError) -> ItemID {
        if let id = try optionalItemID(key) { return id }
        throw CofferError(.param, "parameter '\(key)' is missing: expected 32 lower-case hexadecimal digits")
    }

    mutating func name(_ key: String) throws(CofferError) -> ItemName { try ItemName(try string(key)) }
}
