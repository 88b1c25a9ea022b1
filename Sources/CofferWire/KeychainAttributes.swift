internal import CofferCore

extension AttributeValue {
    /// The value as it travels: bytes as base64, a date as a number of milliseconds.
    var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .integer(let number), .date(let number): .integer(number)
        case .bool(let flag): .bool(flag)
        case .bytes(let bytes): .string(Base64.encode(bytes))
        }
    }

    /// Reads a value.
    ///
    /// - Parameters:
    ///   - json: The value as it travels.
    ///   - form: What it is to be; anything else gives `nil`.
    init?(_ json: JSONValue, as form: Form) {
        switch (form, json) {
        case (.text, .string(let text)): self = .text(text)
        case (.integer, .integer(let number)): self = .integer(number)
        case (.date, .integer(let number)): self = .date(number)
        case (.bool, .bool(let flag)): self = .bool(flag)
        case (.bytes, .string(let text)):
            guard let bytes = Base64.decode(text) else { return nil }
            self = .bytes(bytes)
        default: return nil
        }
    }
}

extension AttributeValue.Form {
    /// What is expected, for a sentence.
    fileprivate var words: String {
        switch self {
        case .text: "a string"
        case .integer: "a whole number"
        case .bool: "true or false"
        case .bytes: "a string of base64"
        case .date: "a whole number of milliseconds since 1970"
        }
    }
}

extension KeychainAttribute {
    /// Finds an attribute by its name, compared as bytes.
    init?(named name: String) {
        guard let match = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: name) }) else { return nil }
        self = match
    }

    /// Finds an attribute that a class has.
    fileprivate init(_ name: String, of itemClass: ItemClass?, in key: String) throws(CofferError) {
        let known = itemClass.map(Self.attributes(of:)) ?? Self.allCases
        guard let match = Self(named: name), known.contains(match) else {
            let owner = itemClass.map { "an item of class '\($0.rawValue)' has" } ?? "there is"
            throw CofferError(
                .param,
                "parameter '\(key)': \(owner) no attribute \(quotedForDisplay(name))",
                hint: "the attributes are " + known.map { "'\($0.rawValue)'" }.joined(separator: ", ")
                    + "; one of your own belongs into 'user'"
            )
        }
        self = match
    }

    /// Reads a value of the attribute.
    fileprivate func value(_ json: JSONValue, in key: String) throws(CofferError) -> AttributeValue {
        guard let value = AttributeValue(json, as: form) else {
            throw CofferError(.param, "parameter '\(key)': attribute '\(rawValue)': expected \(form.words)")
        }
        if self == .accessible, case .text(let text) = value,
            !Accessibility.allCases.contains(where: { $0.rawValue.hasSameBytes(as: text) })
        {
            let names = Accessibility.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw CofferError(.param, "parameter '\(key)': attribute 'accessible': expected one of \(names)")
        }
        return value
    }
}

extension ParameterReader {
    /// Reads attributes and their values; there may be none.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - itemClass: Whose attributes they have to be; of any class where it is not known.
    ///   - isQuery: Whether items are looked for by them; what an item is to have names its accessibility elsewhere.
    mutating func attributes(
        _ key: String,
        of itemClass: ItemClass?,
        inQuery isQuery: Bool
    ) throws(CofferError) -> [KeychainAttribute: AttributeValue] {
        try attributesAndGaps(key, of: itemClass, inQuery: isQuery).values
    }

    /// Reads attributes and their values, and those that are to be taken away, by `null`.
    mutating func attributesAndGaps(
        _ key: String,
        of itemClass: ItemClass?,
        inQuery isQuery: Bool
    ) throws(CofferError) -> (values: [KeychainAttribute: AttributeValue], gaps: Set<KeychainAttribute>) {
        var values: [KeychainAttribute: AttributeValue] = [:]
        var gaps: Set<KeychainAttribute> = []
        for (name, json) in try optionalObject(key)?.members ?? [] {
            let attribute = try KeychainAttribute(name, of: itemClass, in: key)
            if attribute == .accessible && !isQuery {
                throw CofferError(.param, "parameter '\(key)': 'accessible' stands beside '\(key)', not in it")
            }
            if json == .null {
                gaps.insert(attribute)
            } else {
                values[attribute] = try attribute.value(json, in: key)
            }
        }
        return (values, gaps)
    }

    mutating func optionalUserAttributes(_ key: String) throws(CofferError) -> [String: String]? {
        guard take(key) != nil else { return nil }
        return try userAttributes(key)
    }

    /// Reads attributes of the user's own; there may be none.
    mutating func userAttributes(_ key: String) throws(CofferError) -> [String: String] {
        try userAttributesAndGaps(key).values
    }

    /// Reads attributes of the user's own, and the names of those that are to be taken away, by `null`.
    mutating func userAttributesAndGaps(
        _ key: String
    ) throws(CofferError) -> (values: [String: String], gaps: Set<String>) {
        var values: [String: String] = [:]
        var gaps: Set<String> = []
        let members = try optionalObject(key)?.members ?? []
        if members.count > Limits.userAttributes {
            throw CofferError(
                .dataTooLarge,
                "parameter '\(key)' has \(members.count) attributes, more than \(Limits.userAttributes)",
                hint: "put several values into one attribute, or into the secret"
            )
        }
        for (name, json) in members {
            if name.isEmpty { throw CofferError(.param, "parameter '\(key)': an attribute has an empty name") }
            // The members differ as bytes, and are compared as characters here, as the store does.
            if values[name] != nil || gaps.contains(name) {
                throw CofferError(.param, "parameter '\(key)': attribute \(quotedForDisplay(name)) occurs twice")
            }
            if json == .null {
                gaps.insert(name)
            } else if let text = json.stringValue {
                values[name] = text
            } else {
                throw CofferError(
                    .param,
                    "parameter '\(key)': attribute \(quotedForDisplay(name)): expected a string"
                )
            }
        }
        return (values, gaps)
    }

    /// Reads texts that attributes are searched for; there may be none.
    mutating func searchTexts(
        _ key: String,
        of itemClass: ItemClass?
    ) throws(CofferError) -> [KeychainAttribute: String] {
        var texts: [KeychainAttribute: String] = [:]
        for (attribute, value) in try attributes(key, of: itemClass, inQuery: true) {
            guard KeychainAttribute.searchable.contains(attribute), case .text(let text) = value else {
                let names = KeychainAttribute.searchable.map { "'\($0.rawValue)'" }.joined(separator: ", ")
                throw CofferError(
                    .param,
                    "parameter '\(key)': attribute '\(attribute.rawValue)' is not searched by a part of it",
                    hint: "those that are: \(names); 'attributes' looks for whole values"
                )
            }
            texts[attribute] = text
        }
        return texts
    }

    /// Reads attributes that the daemon gives: those that a newer one added are passed over.
    mutating func knownAttributes(_ key: String) throws(CofferError) -> [KeychainAttribute: AttributeValue]? {
        guard let object = try optionalObject(key) else { return nil }
        var values: [KeychainAttribute: AttributeValue] = [:]
        for (name, json) in object.members {
            guard let attribute = KeychainAttribute(named: name) else { continue }
            values[attribute] = try attribute.value(json, in: key)
        }
        return values
    }
}

extension JSONObject {
    /// The attributes in the order of their names; a gap is `null`.
    init(attributes: [KeychainAttribute: AttributeValue], gaps: Set<KeychainAttribute> = []) {
        let members = attributes.map { ($0.key.rawValue, $0.value.json) } + gaps.map { ($0.rawValue, .null) }
        self.init(members.sorted { $0.0 < $1.0 })
    }

    init(user: [String: String], gaps: Set<String> = []) {
        let members: [(String, JSONValue)] = user.map { ($0.key, .string($0.value)) } + gaps.map { ($0, .null) }
        self.init(members.sorted { $0.0 < $1.0 })
    }
}
