package import CofferCore

/// A query is part of the parameters of every method that looks for items, and all of those of `keychain.delete`,
/// `keychain.sign` and `keychain.publicKey`.
extension KeychainQuery: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let itemClass = try reader.value("class", as: ItemClass.self)
        let attributes = try reader.attributes("attributes", of: itemClass, inQuery: true)
        let user = try reader.userAttributes("user")
        let prefix = try reader.searchTexts("prefix", of: itemClass)
        let contains = try reader.searchTexts("contains", of: itemClass)
        let reference = try reader.optionalItemID("reference")
        let expiringBefore = try reader.optionalInteger("expiringBefore")
        if let reference {
            self.init(reference: reference, itemClass: itemClass)
            if !attributes.isEmpty || !user.isEmpty || !prefix.isEmpty || !contains.isEmpty || expiringBefore != nil {
                throw CofferError(
                    .param,
                    "parameter 'reference' names one item: only 'class' can stand beside it in a query"
                )
            }
            return
        }
        guard let itemClass else {
            let names = ItemClass.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            throw CofferError(.param, "parameter 'class' is missing: expected one of \(names), or a 'reference'")
        }
        self.init(
            itemClass,
            attributes,
            user: user,
            prefix: prefix,
            contains: contains,
            expiringBefore: expiringBefore
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("class", itemClass)
        if !attributes.isEmpty { object.append("attributes", attributes) }
        if !user.isEmpty { object.append("user", user) }
        if !prefix.isEmpty { object.append("prefix", prefix) }
        if !contains.isEmpty { object.append("contains", contains) }
        object.append("reference", reference)
        object.append("expiringBefore", expiringBefore)
        return object
    }
}

extension ParameterReader {
    /// Reads what is to be given of each item.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - choices: What can be asked for.
    ///   - usual: What is given where nothing is said.
    mutating func returns(
        _ key: String,
        from choices: [KeychainReturn] = KeychainReturn.allCases,
        orElse usual: Set<KeychainReturn>
    ) throws(CofferError) -> Set<KeychainReturn> {
        guard let value = take(key) else { return usual }
        let names = value.arrayValue?.map { element in
            choices.first { choice in element.stringValue.map(choice.rawValue.hasSameBytes(as:)) ?? false }
        }
        let found = names?.compactMap { $0 } ?? []
        guard let names, found.count == names.count else {
            throw Self.mismatch(key, "an array of " + choices.map { "'\($0.rawValue)'" }.joined(separator: ", "))
        }
        guard Set(found).count == found.count else {
            throw CofferError(.param, "parameter '\(key)' has the same word twice")
        }
        return Set(found)
    }
}

extension ParameterReader {
    /// Reads a number of items, or `all`; one if nothing is said.
    mutating func keychainLimit(_ key: String) throws(CofferError) -> KeychainLimit {
        switch take(key) {
        case nil: return .count(1)
        case .string(let word)? where word.hasSameBytes(as: "all"): return .all
        case .integer(let number)? where number >= 1: return .count(Int(number))
        default: throw Self.mismatch(key, "a whole number from 1 on, or 'all'")
        }
    }
}

extension KeychainChange {
    init(_ object: JSONObject, of itemClass: ItemClass?) throws(CofferError) {
        var reader = ParameterReader(object)
        let attributes = try reader.attributesAndGaps("attributes", of: itemClass, inQuery: false)
        let user = try reader.userAttributesAndGaps("user")
        let accessibility = try reader.value("accessible", as: Accessibility.self)
        let historyCount = try reader.optionalInteger("history", in: 0...Int64(Limits.historyValues)).map {
            Int($0)
        }
        let control = try reader.accessControl("accessControl", mayBeEmpty: true)
        self.init(
            attributes: attributes.values,
            removedAttributes: attributes.gaps,
            user: user.values,
            removedUser: user.gaps,
            accessibility: accessibility,
            historyCount: historyCount,
            accessControl: control.value,
            removesAccessControl: control.isEmpty
        )
        try reader.finish()
    }

    var json: JSONObject {
        var object = JSONObject()
        if !attributes.isEmpty || !removedAttributes.isEmpty {
            object.append("attributes", .object(JSONObject(attributes: attributes, gaps: removedAttributes)))
        }
        if !user.isEmpty || !removedUser.isEmpty {
            object.append("user", .object(JSONObject(user: user, gaps: removedUser)))
        }
        object.append("accessible", accessibility)
        object.append("history", historyCount)
        if removesAccessControl {
            object.append("accessControl", .array([]))
        } else {
            object.append("accessControl", accessControl)
        }
        return object
    }
}

extension ParameterReader {
    /// Reads what changes of items; it may be absent.
    mutating func change(_ key: String, of itemClass: ItemClass?) throws(CofferError) -> KeychainChange {
        try KeychainChange(try optionalObject(key) ?? [:], of: itemClass)
    }
}

extension JSONObject {
    mutating func append(_ key: String, _ change: KeychainChange) { append(key, JSONValue.object(change.json)) }
}
