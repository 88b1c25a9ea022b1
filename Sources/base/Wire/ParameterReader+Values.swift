internal import CofferCore

/// Readers of the values that CofferCore has.
extension ParameterReader {
    /// Reads a required name of an enumeration.
    mutating func required<Value: RawRepresentable<String> & CaseIterable>(
        _ key: String,
        as type: Value.Type
    ) throws(CofferError) -> Value {
        try required(key, value(key, as: type), "one of \(type.allCases.quoted)")
    }

    /// Reads a required object of a type.
    mutating func required<Value: WireObject>(_ key: String, of type: Value.Type) throws(CofferError) -> Value {
        try required(key, value(key, of: type), "an object")
    }

    private static var digits: String { "32 lower-case hexadecimal digits" }

    mutating func optionalItemID(_ key: String) throws(CofferError) -> ItemID? {
        guard let text = try optionalString(key) else { return nil }
        guard let id = ItemID(hexadecimal: text) else { throw Self.mismatch(key, Self.digits) }
        return id
    }

    mutating func itemID(_ key: String) throws(CofferError) -> ItemID {
        try required(key, optionalItemID(key), Self.digits)
    }

    mutating func requestID(_ key: String) throws(CofferError) -> RequestID {
        try required(key, optionalID(key), "the 'id' of a request")
    }

    mutating func name(_ key: String) throws(CofferError) -> ItemName { try ItemName(try string(key)) }

    mutating func optionalName(_ key: String) throws(CofferError) -> ItemName? {
        try optionalString(key).map { (path) throws(CofferError) in try ItemName(path) }
    }

    mutating func optionalPattern(_ key: String) throws(CofferError) -> NamePattern? {
        try optionalString(key).map { (text) throws(CofferError) in try NamePattern(text) }
    }

    mutating func pattern(_ key: String) throws(CofferError) -> NamePattern { try NamePattern(try string(key)) }

    mutating func client(_ key: String) throws(CofferError) -> ClientPattern { try ClientPattern(try string(key)) }

    mutating func optionalClient(_ key: String) throws(CofferError) -> ClientPattern? {
        try optionalString(key).map { (text) throws(CofferError) in try ClientPattern(text) }
    }

    mutating func clientPatterns(_ key: String) throws(CofferError) -> [ClientPattern] {
        try strings(key).map { (text) throws(CofferError) in try ClientPattern(text) }
    }

    mutating func verbs(_ key: String) throws(CofferError) -> Set<Verb> {
        // An unknown verb of a newer daemon is ignored.
        Set(try strings(key).compactMap(Verb.init))
    }

    /// Reads verbs that may be absent, which means that there are none.
    mutating func verbsIfAny(_ key: String) throws(CofferError) -> Set<Verb> {
        Set((try optionalStrings(key) ?? []).compactMap(Verb.init))
    }

    /// Reads what an access rule is about.
    mutating func itemVerbs(_ key: String) throws(CofferError) -> Set<Verb> {
        let expected = "an array of \(Verb.allCases.filter(AccessRule.possibleVerbs.contains).quoted), one at least"
        let verbs = try optional(key, expected) { json in
            json.elements { $0.stringValue.flatMap(Verb.init) }
                .flatMap { !$0.isEmpty && AccessRule.possibleVerbs.isSuperset(of: $0) ? Set($0) : nil }
        }
        return try required(key, verbs, expected)
    }

    mutating func protection(_ key: String) throws(CofferError) -> Protection? {
        guard let name = try optionalString(key) else { return nil }
        guard let protection = Protection(name: name) else {
            throw Self.mismatch(key, "an accessibility or a class of files")
        }
        return protection
    }

    mutating func groupIDs(_ key: String) throws(CofferError) -> Set<UInt32> {
        let numbers = try optional(key, "an array of numbers of groups") { json in
            json.elements { $0.integerValue.flatMap { UInt32(exactly: $0) } }
        }
        return Set(numbers ?? [])
    }

    mutating func accessControl(_ key: String) throws(CofferError) -> AccessControl? {
        try accessControl(key, mayBeEmpty: false).value
    }

    /// Reads an access control; it may be absent.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - mayBeEmpty: Whether an empty array is allowed, which removes it.
    mutating func accessControl(
        _ key: String,
        mayBeEmpty: Bool
    ) throws(CofferError) -> (value: AccessControl?, isEmpty: Bool) {
        let flags = try optional(key, "an array of \(AccessControl.Flag.allCases.quoted), each once at most") { json in
            json.elements { AccessControl.Flag(word: $0) }.flatMap { Set($0).count == $0.count ? Set($0) : nil }
        }
        guard let flags else { return (nil, false) }
        if flags.isEmpty && mayBeEmpty { return (nil, true) }
        return (try AccessControl(flags), false)
    }
}
