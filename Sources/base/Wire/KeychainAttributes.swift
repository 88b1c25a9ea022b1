internal import CofferCore
internal import CofferMemory

extension AttributeValue {
    /// The value on the wire: bytes as base64, a date as a number of milliseconds.
    var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .integer(let number), .date(let number): .integer(number)
        case .bool(let flag): .bool(flag)
        case .bytes(let bytes): .string(Base64.encode(bytes))
        }
    }

    /// Parses a value.
    ///
    /// - Parameters:
    ///   - json: The value on the wire.
    ///   - form: The expected form; anything else gives `nil`.
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
    /// The expectation, for a sentence.
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
    /// Finds an attribute that a class has.
    fileprivate init(_ name: String, of itemClass: ItemClass?, in key: String) throws(CofferError) {
        let known = itemClass.map(Self.attributes(of:)) ?? Self.allCases
        guard let match = Self(word: .string(name)), known.contains(match) else {
            let owner = itemClass.map { "an item of class '\($0.rawValue)' has" } ?? "there is"
            throw CofferError(
                .param,
                "parameter '\(key)': \(owner) no attribute \(quotedForDisplay(name))",
                hint: "the attributes are " + known.quoted + "; one of your own belongs into 'user'"
            )
        }
        self = match
    }

    /// Reads a value of the attribute.
    fileprivate func value(_ json: JSONValue, in key: String) throws(CofferError) -> AttributeValue {
        guard let value = AttributeValue(json, as: form) else {
            throw CofferError(.param, "parameter '\(key)': attribute '\(rawValue)': expected \(form.words)")
        }
        if self == .accessible && Accessibility(word: json) == nil {
            let names = Accessibility.allCases.quoted
            throw CofferError(.param, "parameter '\(key)': attribute 'accessible': expected one of \(names)")
        }
        return value
    }
}

extension ParameterReader {
    /// Reads attributes and their values; the parameter may be absent.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - itemClass: The class that must have them; `nil` for any class.
    ///   - isQuery: Whether they are conditions of a query; otherwise the accessibility is a parameter of its own.
    mutating func attributes(
        _ key: String,
        of itemClass: ItemClass?,
        inQuery isQuery: Bool
    ) throws(CofferError) -> [KeychainAttribute: AttributeValue] {
        try attributesAndGaps(key, of: itemClass, inQuery: isQuery).values
    }

    /// Reads attributes and their values, and those to be removed, which are `null`.
    mutating func attributesAndGaps(
        _ key: String,
        of itemClass: ItemClass?,
        inQuery isQuery: Bool
    ) throws(CofferError) -> (values: [KeychainAttribute: AttributeValue], gaps: Set<KeychainAttribute>) {
        var values: [KeychainAttribute: AttributeValue] = [:]
        var gaps: Set<KeychainAttribute> = []
        let members = try optionalObject(key)?.list ?? []
        values.reserveCapacity(members.count)
        for member in members {
            let (name, json) = (member.key, member.value)
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

    mutating func optionalUserAttributes(_ key: String) throws(CofferError) -> [AttributeName: String]? {
        guard take(key) != nil else { return nil }
        return try userAttributes(key)
    }

    /// Reads user-defined attributes; the parameter may be absent.
    mutating func userAttributes(_ key: String) throws(CofferError) -> [AttributeName: String] {
        try userAttributesAndGaps(key).values
    }

    /// Reads user-defined attributes, and the names of those to be removed, which are `null`.
    mutating func userAttributesAndGaps(
        _ key: String
    ) throws(CofferError) -> (values: [AttributeName: String], gaps: Set<AttributeName>) {
        var values: [AttributeName: String] = [:]
        var gaps: Set<AttributeName> = []
        let members = try optionalObject(key)?.list ?? []
        if members.count > Limits.userAttributes {
            throw CofferError(
                .dataTooLarge,
                "parameter '\(key)' has \(members.count) attributes, more than \(Limits.userAttributes)",
                hint: "put several values into one attribute, or into the secret"
            )
        }
        for member in members {
            let (name, json) = (member.key, member.value)
            if name.isEmpty { throw CofferError(.param, "parameter '\(key)': an attribute has an empty name") }
            if json == .null {
                gaps.insert(AttributeName(name))
            } else if let text = json.stringValue {
                values[AttributeName(name)] = text
            } else {
                throw CofferError(
                    .param,
                    "parameter '\(key)': attribute \(quotedForDisplay(name)): expected a string"
                )
            }
        }
        return (values, gaps)
    }

    /// Reads texts to search for; the parameter may be absent.
    mutating func searchTexts(
        _ key: String,
        of itemClass: ItemClass?
    ) throws(CofferError) -> [KeychainAttribute: String] {
        var texts: [KeychainAttribute: String] = [:]
        for (attribute, value) in try attributes(key, of: itemClass, inQuery: true) {
            guard KeychainAttribute.searchable.contains(attribute), case .text(let text) = value else {
                throw CofferError(
                    .param,
                    "parameter '\(key)': attribute '\(attribute.rawValue)' is not searched by a part of it",
                    hint: "those that are: \(KeychainAttribute.searchable.quoted); 'attributes' looks for whole values"
                )
            }
            texts[attribute] = text
        }
        return texts
    }

    /// Reads attributes that the daemon returns; unknown ones of a newer daemon are ignored.
    mutating func knownAttributes(_ key: String) throws(CofferError) -> [KeychainAttribute: AttributeValue]? {
        guard let object = try optionalObject(key) else { return nil }
        var values: [KeychainAttribute: AttributeValue] = [:]
        values.reserveCapacity(object.list.count)
        for member in object.list {
            guard let attribute = KeychainAttribute(word: .string(member.key)) else { continue }
            values[attribute] = try attribute.value(member.value, in: key)
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

    init(user: [AttributeName: String], gaps: Set<AttributeName> = []) {
        let members: [(AttributeName, JSONValue)] = user.map { ($0.key, .string($0.value)) } + gaps.map { ($0, .null) }
        self.init(members.sorted { $0.0 < $1.0 }.map { ($0.0.text, $0.1) })
    }
}
