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
        object.set("class", itemClass?.rawValue)
        object.set("attributes", attributes)
        object.set("user", user)
        object.set("prefix", prefix)
        object.set("contains", contains)
        object.set("reference", reference?.hexadecimal)
        object.set("expiringBefore", expiringBefore)
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

extension JSONObject {
    /// Sets a member to what is to be given, in the order of the declaration.
    mutating func set(_ key: String, _ returns: Set<KeychainReturn>) {
        let names = KeychainReturn.allCases.filter(returns.contains).map { JSONValue.string($0.rawValue) }
        set(key, .array(names))
    }
}

/// The parameters of `keychain.find`, as they travel.
package struct KeychainFindParameters: WireObject {
    /// What is looked for.
    package let query: KeychainQuery
    /// How many are wanted.
    package let limit: KeychainLimit
    /// What the page before ended with.
    package let cursor: String?
    /// The order; that in which the items were added if nothing is said.
    package let order: KeychainOrder?
    /// What is to be given of each; nothing where only their being there is asked for.
    package let returns: Set<KeychainReturn>

    package init(
        _ query: KeychainQuery,
        limit: KeychainLimit = .count(1),
        cursor: String? = nil,
        order: KeychainOrder? = nil,
        returns: Set<KeychainReturn> = [.data]
    ) {
        self.query = query
        self.limit = limit
        self.cursor = cursor
        self.order = order
        self.returns = returns
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        limit = try reader.keychainLimit("limit")
        cursor = try reader.optionalString("cursor")
        order = try reader.value("sort", as: KeychainOrder.self)
        returns = try reader.returns("return", orElse: [.data])
        if let cursor, cursor.utf8.count > Limits.cursorBytes {
            throw CofferError(.param, "parameter 'cursor': expected the 'cursor' of an earlier page")
        }
    }

    package var json: JSONObject {
        var object = query.json
        switch limit {
        case .count(let count): object.set("limit", count)
        case .all: object.set("limit", .string("all"))
        }
        object.set("cursor", cursor)
        object.set("sort", order?.rawValue)
        object.set("return", returns)
        return object
    }
}

extension ParameterReader {
    /// Reads a number of items, or `all`; one if nothing is said.
    fileprivate mutating func keychainLimit(_ key: String) throws(CofferError) -> KeychainLimit {
        switch take(key) {
        case nil: return .count(1)
        case .string(let word)? where word.hasSameBytes(as: "all"): return .all
        case .integer(let number)? where number >= 1: return .count(Int(number))
        default: throw Self.mismatch(key, "a whole number from 1 on, or 'all'")
        }
    }
}

extension KeychainItemInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            itemClass: try reader.required("class", as: ItemClass.self),
            reference: try reader.itemID("reference"),
            attributes: try reader.knownAttributes("attributes"),
            user: try reader.optionalUserAttributes("user"),
            byteCount: try reader.optionalInteger("bytes", in: 0...Int64(Limits.framePayloadBytes)).map { Int($0) },
            accessControl: try reader.accessControl("accessControl").value,
            isLocked: try reader.optionalBool("isLocked") ?? false,
            isExpired: try reader.optionalBool("isExpired") ?? false
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("class", itemClass.rawValue)
        object.set("reference", reference.hexadecimal)
        if let attributes { object.set("attributes", .object(JSONObject(attributes: attributes))) }
        if let user { object.set("user", .object(JSONObject(user: user))) }
        object.set("bytes", byteCount)
        object.set("accessControl", accessControl)
        if isLocked { object.set("isLocked", true) }
        if isExpired { object.set("isExpired", true) }
        return object
    }
}

extension ParameterReader {
    fileprivate mutating func optionalUserAttributes(_ key: String) throws(CofferError) -> [String: String]? {
        guard take(key) != nil else { return nil }
        return try userAttributes(key)
    }
}

extension KeychainPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            items: try reader.values("items", of: KeychainItemInfo.self),
            lockedCount: Int(try reader.integer("lockedCount", in: 0...Int64.max)),
            unauthenticatedCount: Int(try reader.optionalInteger("unauthenticatedCount", in: 0...Int64.max) ?? 0),
            damagedCount: Int(try reader.optionalInteger("damagedCount", in: 0...Int64.max) ?? 0),
            cursor: try reader.optionalString("cursor")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("items", .array(items.map { .object($0.json) }))
        object.set("lockedCount", lockedCount)
        object.set("unauthenticatedCount", unauthenticatedCount)
        object.set("damagedCount", damagedCount)
        object.set("cursor", cursor)
        return object
    }
}
