internal import CofferCore

/// Readers of the values that CofferCore has.
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

    /// Reads an object of some kind, which has to be there.
    mutating func required<Value: WireObject>(_ key: String, of type: Value.Type) throws(CofferError) -> Value {
        if let value = try value(key, of: type) { return value }
        throw CofferError(.param, "parameter '\(key)' is missing: expected an object")
    }

    mutating func optionalItemID(_ key: String) throws(CofferError) -> ItemID? {
        guard let text = try optionalString(key) else { return nil }
        guard let id = ItemID(hexadecimal: text) else {
            throw CofferError(.param, "parameter '\(key)': expected 32 lower-case hexadecimal digits")
        }
        return id
    }

    mutating func itemID(_ key: String) throws(CofferError) -> ItemID {
        if let id = try optionalItemID(key) { return id }
        throw CofferError(.param, "parameter '\(key)' is missing: expected 32 lower-case hexadecimal digits")
    }

    mutating func requestID(_ key: String) throws(CofferError) -> RequestID {
        if let id = try optionalID(key) { return id }
        throw CofferError(.param, "parameter '\(key)' is missing: expected the 'id' of a request")
    }

    mutating func name(_ key: String) throws(CofferError) -> ItemName { try ItemName(try string(key)) }

    mutating func optionalName(_ key: String) throws(CofferError) -> ItemName? {
        try optionalString(key).map { (path) throws(CofferError) in try ItemName(path) }
    }

    mutating func optionalPattern(_ key: String) throws(CofferError) -> NamePattern? {
        try optionalString(key).map { (text) throws(CofferError) in try NamePattern(text) }
    }

    mutating func client(_ key: String) throws(CofferError) -> ClientPattern { try ClientPattern(try string(key)) }

    mutating func optionalClient(_ key: String) throws(CofferError) -> ClientPattern? {
        try optionalString(key).map { (text) throws(CofferError) in try ClientPattern(text) }
    }

    mutating func clientPatterns(_ key: String) throws(CofferError) -> [ClientPattern] {
        try strings(key).map { (text) throws(CofferError) in try ClientPattern(text) }
    }

    mutating func verbs(_ key: String) throws(CofferError) -> Set<Verb> {
        // One that a newer daemon knows means nothing here.
        Set(try strings(key).compactMap(Verb.init))
    }

    mutating func protection(_ key: String) throws(CofferError) -> Protection? {
        guard let name = try optionalString(key) else { return nil }
        guard let protection = Protection(name: name) else {
            throw Self.mismatch(key, "an accessibility or a class of files")
        }
        return protection
    }

    mutating func groupIDs(_ key: String) throws(CofferError) -> Set<UInt32> {
        guard let value = take(key) else { return [] }
        let numbers = value.arrayValue?.compactMap(\.integerValue).compactMap { UInt32(exactly: $0) }
        guard let numbers, numbers.count == value.arrayValue?.count else {
            throw Self.mismatch(key, "an array of numbers of groups")
        }
        return Set(numbers)
    }

    mutating func accessControl(_ key: String) throws(CofferError) -> AccessControl? {
        try accessControl(key, mayBeEmpty: false).value
    }

    /// Reads an access control; it may be absent.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - mayBeEmpty: Whether an empty array takes one away.
    mutating func accessControl(
        _ key: String,
        mayBeEmpty: Bool
    ) throws(CofferError) -> (value: AccessControl?, isEmpty: Bool) {
        guard let value = take(key) else { return (nil, false) }
        let words = value.arrayValue?.map { element in
            AccessControl.Flag.allCases.first { flag in
                element.stringValue.map(flag.rawValue.hasSameBytes(as:)) ?? false
            }
        }
        let flags = words?.compactMap { $0 } ?? []
        guard let words, flags.count == words.count, Set(flags).count == flags.count else {
            let names = AccessControl.Flag.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw Self.mismatch(key, "an array of \(names), each once at most")
        }
        if words.isEmpty && mayBeEmpty { return (nil, true) }
        return (try AccessControl(Set(flags)), false)
    }
}
