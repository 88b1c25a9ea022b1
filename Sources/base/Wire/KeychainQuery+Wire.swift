internal import CofferCore

extension ParameterReader {
    /// Reads what is to be returned for each item.
    ///
    /// - Parameters:
    ///   - key: The name of the parameter.
    ///   - choices: The possible values.
    ///   - usual: The default.
    mutating func returns(
        _ key: String,
        from choices: [KeychainReturn] = KeychainReturn.allCases,
        orElse usual: Set<KeychainReturn>
    ) throws(CofferError) -> Set<KeychainReturn> {
        let found = try optional(key, "an array of \(choices.quoted)") { json in
            json.elements { KeychainReturn(word: $0).flatMap { choices.contains($0) ? $0 : nil } }
        }
        guard let found else { return usual }
        guard Set(found).count == found.count else {
            throw CofferError(.param, "parameter '\(key)' has the same word twice")
        }
        return Set(found)
    }
}

extension ParameterReader {
    /// Reads a number of items, or `all`; by default one.
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
        try object.refuseNullMembers(of: "set")
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
    /// Reads changes of items; the parameter may be absent.
    mutating func change(_ key: String, of itemClass: ItemClass?) throws(CofferError) -> KeychainChange {
        try KeychainChange(try optionalObject(key) ?? [:], of: itemClass)
    }
}

extension JSONObject {
    mutating func append(_ key: String, _ change: KeychainChange) { append(key, JSONValue.object(change.json)) }
}
