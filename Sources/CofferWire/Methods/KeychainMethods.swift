package import CofferCore

/// The parameters of `keychain.add`, as they travel.
///
/// The secret is the payload; there is none for a key that is made.
package struct KeychainAddParameters: WireObject {
    /// The class.
    package let itemClass: ItemClass
    /// The attributes.
    package let attributes: [KeychainAttribute: AttributeValue]
    /// The attributes of the user's own.
    package let user: [String: String]
    /// The accessibility; the usual one if nothing is said.
    package let accessibility: Accessibility?
    /// How many former values of the secret are kept; the usual number if nothing is said.
    package let historyCount: Int?
    /// What has to be shown before the secret is given; nothing if there is none.
    package let accessControl: AccessControl?
    /// The kind of the keys that are to be made.
    package let generates: KeyType?
    /// What is to be given of the new item.
    package let returns: Set<KeychainReturn>

    package init(
        _ itemClass: ItemClass,
        _ attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [String: String] = [:],
        accessibility: Accessibility? = nil,
        historyCount: Int? = nil,
        accessControl: AccessControl? = nil,
        generates: KeyType? = nil,
        returns: Set<KeychainReturn> = []
    ) {
        self.itemClass = itemClass
        self.attributes = attributes
        self.user = user
        self.accessibility = accessibility
        self.historyCount = historyCount
        self.accessControl = accessControl
        self.generates = generates
        self.returns = returns
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        itemClass = try reader.required("class", as: ItemClass.self)
        attributes = try reader.attributes("attributes", of: itemClass, inQuery: false)
        user = try reader.userAttributes("user")
        accessibility = try reader.value("accessible", as: Accessibility.self)
        historyCount = try reader.historyCount("history")
        accessControl = try reader.accessControl("accessControl").value
        generates = try reader.value("generate", as: KeyType.self)
        returns = try reader.returns("return", orElse: [])
        if itemClass == .identity {
            throw CofferError(
                .param,
                "an identity can't be added: it is a certificate joined with its private key",
                hint: "add the two of them"
            )
        }
        if generates != nil && itemClass != .key {
            throw CofferError(.param, "parameter 'generate' is for items of class 'key' only")
        }
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("class", itemClass.rawValue)
        object.set("attributes", attributes)
        object.set("user", user)
        object.set("accessible", accessibility?.rawValue)
        object.set("history", historyCount)
        object.set("accessControl", accessControl)
        object.set("generate", generates?.rawValue)
        if !returns.isEmpty { object.set("return", returns) }
        return object
    }
}

extension ParameterReader {
    /// Reads how many former values are kept; it may be absent.
    fileprivate mutating func historyCount(_ key: String) throws(CofferError) -> Int? {
        try optionalInteger(key, in: 0...Int64(Limits.historyValues)).map { Int($0) }
    }
}

/// The result of `keychain.add`, as it travels.
package struct KeychainAddResult: WireObject {
    /// The persistent reference of the new item.
    package let reference: ItemID
    /// What was asked for of the item.
    package let item: KeychainItemInfo?
    /// What the caller ought to know: a deprecated accessibility.
    package let warnings: [String]

    package init(reference: ItemID, item: KeychainItemInfo?, warnings: [String] = []) {
        self.reference = reference
        self.item = item
        self.warnings = warnings
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        reference = try reader.itemID("reference")
        if let object = try reader.optionalObject("item") {
            item = try KeychainItemInfo(result: .object(object))
        } else {
            item = nil
        }
        warnings = try reader.optionalStrings("warnings") ?? []
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("reference", reference.hexadecimal)
        if let item { object.set("item", .object(item.json)) }
        object.set("warnings", .array(warnings.map { .string($0) }))
        return object
    }
}

/// The parameters of `keychain.update`, as they travel.
///
/// A new secret, where there is one, is the payload.
package struct KeychainUpdateParameters: WireObject {
    /// What is looked for.
    package let query: KeychainQuery
    /// What is changed of it.
    package let change: KeychainChange

    package init(_ query: KeychainQuery, _ change: KeychainChange) {
        self.query = query
        self.change = change
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        change = try KeychainChange(try reader.optionalObject("set") ?? [:], of: query.itemClass)
    }

    package var json: JSONObject {
        var object = query.json
        if !change.isEmpty { object.set("set", .object(change.json)) }
        return object
    }
}

extension KeychainChange {
    fileprivate init(_ object: JSONObject, of itemClass: ItemClass?) throws(CofferError) {
        var reader = ParameterReader(object)
        let attributes = try reader.attributesAndGaps("attributes", of: itemClass, inQuery: false)
        let user = try reader.userAttributesAndGaps("user")
        let accessibility = try reader.value("accessible", as: Accessibility.self)
        let historyCount = try reader.historyCount("history")
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

    fileprivate var json: JSONObject {
        var object = JSONObject()
        if !attributes.isEmpty || !removedAttributes.isEmpty {
            object.set("attributes", .object(JSONObject(attributes: attributes, gaps: removedAttributes)))
        }
        if !user.isEmpty || !removedUser.isEmpty {
            object.set("user", .object(JSONObject(user: user, gaps: removedUser)))
        }
        object.set("accessible", accessibility?.rawValue)
        object.set("history", historyCount)
        if removesAccessControl {
            object.set("accessControl", .array([]))
        } else {
            object.set("accessControl", accessControl)
        }
        return object
    }
}

/// The result of `keychain.update`, as it travels.
package struct KeychainUpdateResult: WireObject {
    /// The items that were changed.
    package let count: Int64
    /// What the caller ought to know: a deprecated accessibility.
    package let warnings: [String]

    package init(count: Int64, warnings: [String] = []) {
        self.count = count
        self.warnings = warnings
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        count = try reader.integer("count")
        warnings = try reader.optionalStrings("warnings") ?? []
    }

    package var json: JSONObject {
        ["count": .integer(count), "warnings": .array(warnings.map { .string($0) })]
    }
}

/// The result of `keychain.delete`, as it travels.
package struct KeychainCount: WireObject {
    /// The items that are gone.
    package let count: Int64

    package init(count: Int64) { self.count = count }

    package init(reading reader: inout ParameterReader) throws(CofferError) { count = try reader.integer("count") }

    package var json: JSONObject { ["count": .integer(count)] }
}

/// The parameters of `keychain.agree`, as they travel.
package struct KeychainAgreeParameters: WireObject {
    /// The private key that is looked for.
    package let query: KeychainQuery
    /// The other side's public key.
    package let peer: [UInt8]
    /// The bytes of a public key.
    private static let keyBytes = 32

    package init(_ query: KeychainQuery, peer: [UInt8]) {
        self.query = query
        self.peer = peer
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        peer = try reader.bytes("peer")
        if peer.count != Self.keyBytes {
            throw CofferError(.param, "parameter 'peer' has \(peer.count) bytes: expected \(Self.keyBytes) in base64")
        }
    }

    package var json: JSONObject {
        var object = query.json
        object.set("peer", .string(Base64.encode(peer)))
        return object
    }
}

/// The result of `keychain.publicKey`, as it travels.
extension KeychainPublicKey: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(bytes: try reader.bytes("publicKey"), keyType: try reader.string("keyType"))
    }

    package var json: JSONObject { ["publicKey": .string(Base64.encode(bytes)), "keyType": .string(keyType)] }
}

/// The parameters of `keychain.history`, as they travel.
package struct KeychainHistoryParameters: WireObject {
    /// The item that is looked for.
    package let query: KeychainQuery
    /// The one value that is wanted; all of them if nothing is said.
    package let number: Int64?
    /// What is to be given of each value: ``KeychainReturn/data``, or nothing.
    package let returns: Set<KeychainReturn>

    package init(_ query: KeychainQuery, number: Int64? = nil, returns: Set<KeychainReturn> = []) {
        self.query = query
        self.number = number
        self.returns = returns
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        number = try reader.optionalInteger("number", in: 0...Int64.max)
        returns = try reader.returns("return", from: [.data], orElse: [])
    }

    package var json: JSONObject {
        var object = query.json
        object.set("number", number)
        if !returns.isEmpty { object.set("return", returns) }
        return object
    }
}

/// The result of `keychain.history`, as it travels.
package struct KeychainHistory: WireObject {
    /// The values, the newest first.
    package let values: [KeychainFormerValue]

    package init(values: [KeychainFormerValue]) { self.values = values }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        values = try reader.values("values", of: KeychainFormerValue.self)
    }

    package var json: JSONObject { ["values": .array(values.map { .object($0.json) })] }
}

extension KeychainFormerValue: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            number: Int(try reader.integer("number")),
            replaced: try reader.integer("replaced"),
            byteCount: Int(try reader.integer("bytes", in: 0...Int64(Limits.framePayloadBytes)))
        )
    }

    package var json: JSONObject {
        ["number": .integer(Int64(number)), "replaced": .integer(replaced), "bytes": .integer(Int64(byteCount))]
    }
}

/// The parameters of `keychain.restore`, as they travel.
package struct KeychainRestoreParameters: WireObject {
    /// The item that is looked for.
    package let query: KeychainQuery
    /// The number of the former value that is to be its secret again.
    package let number: Int64

    package init(_ query: KeychainQuery, number: Int64) {
        self.query = query
        self.number = number
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        number = try reader.integer("number", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = query.json
        object.set("number", number)
        return object
    }
}
