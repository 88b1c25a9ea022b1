// packaging/interface writes this file from proto-docs/openrpc.json.

package import CofferCore

/// The parameters of `keychain.add`.
///
/// Adds an item to the keychain. The payload is its secret, or empty if the daemon generates a key.
package struct KeychainAddParameters: MethodParameters {
    package typealias Result = KeychainAddResult
    package static var method: Method { .keychainAdd }
    /// The class of the item.
    package let itemClass: ItemClass
    /// The attributes of the item.
    ///
    /// Absent means {}.
    package let attributes: [KeychainAttribute: AttributeValue]
    /// The attributes of the user's own.
    ///
    /// Absent means {}.
    package let user: [String: String]
    /// When the item is accessible.
    ///
    /// Absent means WhenUnlocked.
    package let accessibility: Accessibility?
    /// How many former values of the secret are kept.
    ///
    /// Absent means 10.
    package let historyCount: Int?
    /// What a person has to present before the secret is used.
    ///
    /// Absent means: nothing has to be shown.
    package let accessControl: AccessControl?
    /// The type of the key pair that the daemon generates.
    ///
    /// Such an item has no payload. Absent means: the payload is stored.
    package let generates: KeyType?
    /// What is returned of the new item.
    ///
    /// Absent means [].
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
        historyCount = try reader.optionalInteger("history", in: 0...Int64(Limits.historyValues)).map { Int($0) }
        accessControl = try reader.accessControl("accessControl")
        generates = try reader.value("generate", as: KeyType.self)
        returns = try reader.returns("return", orElse: [])
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("class", itemClass)
        if !attributes.isEmpty { object.append("attributes", attributes) }
        if !user.isEmpty { object.append("user", user) }
        object.append("accessible", accessibility)
        object.append("history", historyCount)
        object.append("accessControl", accessControl)
        object.append("generate", generates)
        if !returns.isEmpty { object.append("return", returns) }
        return object
    }
}

/// An item that was added.
package struct KeychainAddResult: Hashable, WireObject {
    /// The persistent reference of the new item.
    package let reference: ItemID
    /// What the request asked to be returned of the item.
    ///
    /// It is absent if the request asked for nothing.
    package let item: KeychainItemInfo?
    /// What the caller should know, such as that an accessibility is deprecated.
    package let warnings: [String]

    package init(
        reference: ItemID,
        item: KeychainItemInfo? = nil,
        warnings: [String] = []
    ) {
        self.reference = reference
        self.item = item
        self.warnings = warnings
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        reference = try reader.itemID("reference")
        item = try reader.value("item", of: KeychainItemInfo.self)
        warnings = try reader.optionalStrings("warnings") ?? []
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("reference", reference)
        object.append("item", item)
        object.append("warnings", warnings)
        return object
    }
}

/// The parameters of `keychain.agree`.
///
/// Computes a shared secret with a private key. It is the payload of the answer.
package struct KeychainAgreeParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .keychainAgree }
    /// What is searched for.
    package let query: KeychainQuery
    /// The other side's public key: 32 bytes in base64.
    package let peer: [UInt8]

    package init(_ query: KeychainQuery, peer: [UInt8]) {
        self.query = query
        self.peer = peer
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        peer = try reader.bytes("peer")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(query.json)
        object.append("peer", peer)
        return object
    }
}

/// The parameters of `keychain.delete`.
///
/// Deletes every item that the query finds.
package struct KeychainDeleteParameters: MethodParameters {
    package typealias Result = CountResult
    package static var method: Method { .keychainDelete }
    /// What is searched for.
    package let query: KeychainQuery

    package init(_ query: KeychainQuery) {
        self.query = query
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(query.json)
        return object
    }
}

/// The parameters of `keychain.find`.
///
/// Finds items of the keychain. The payload of the answer is their secrets, if the request asks for
/// them.
package struct KeychainFindParameters: MethodParameters {
    package typealias Result = KeychainPage
    package static var method: Method { .keychainFind }
    /// What is searched for.
    package let query: KeychainQuery
    /// How many items are returned at most: a number, or all.
    ///
    /// Absent means 1.
    package let limit: KeychainLimit
    /// The cursor of the page before.
    ///
    /// Absent means: from the beginning.
    package let cursor: String?
    /// The order of the items.
    ///
    /// Absent means: in the order of adding.
    package let order: KeychainOrder?
    /// What is returned of each item.
    ///
    /// Absent means ["data"].
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
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(query.json)
        object.append("limit", limit)
        object.append("cursor", cursor)
        object.append("sort", order)
        object.append("return", returns)
        return object
    }
}

/// A page of what a query finds.
public struct KeychainPage: Hashable, Sendable {
    /// The items.
    public let items: [KeychainItemInfo]
    /// How many items were found whose secret cannot be read now.
    public let lockedCount: Int
    /// How many items were found whose access control is not satisfied.
    public let unauthenticatedCount: Int
    /// How many rows were skipped because they are damaged.
    public let damagedCount: Int
    /// What the next page is called with.
    ///
    /// It is absent after the last page.
    public let cursor: String?

    package init(
        items: [KeychainItemInfo],
        lockedCount: Int,
        unauthenticatedCount: Int = 0,
        damagedCount: Int = 0,
        cursor: String? = nil
    ) {
        self.items = items
        self.lockedCount = lockedCount
        self.unauthenticatedCount = unauthenticatedCount
        self.damagedCount = damagedCount
        self.cursor = cursor
    }
}

extension KeychainPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        items = try reader.values("items", of: KeychainItemInfo.self)
        lockedCount = Int(try reader.integer("lockedCount", in: 0...Int64.max))
        unauthenticatedCount =
            try reader.optionalInteger("unauthenticatedCount", in: 0...Int64.max).map { Int($0) } ?? 0
        damagedCount = try reader.optionalInteger("damagedCount", in: 0...Int64.max).map { Int($0) } ?? 0
        cursor = try reader.optionalString("cursor")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("items", items)
        object.append("lockedCount", lockedCount)
        object.append("unauthenticatedCount", unauthenticatedCount)
        object.append("damagedCount", damagedCount)
        object.append("cursor", cursor)
        return object
    }
}

/// The parameters of `keychain.history`.
///
/// Reports the former values of an item. The payload of the answer is the value, if the request asks
/// for it.
package struct KeychainHistoryParameters: MethodParameters {
    package typealias Result = KeychainHistory
    package static var method: Method { .keychainHistory }
    /// What is searched for.
    package let query: KeychainQuery
    /// The number of the value that is reported.
    ///
    /// Absent means: all.
    package let number: Int64?
    /// What is returned of each value.
    ///
    /// Absent means [].
    package let returns: Set<KeychainReturn>

    package init(
        _ query: KeychainQuery,
        number: Int64? = nil,
        returns: Set<KeychainReturn> = []
    ) {
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
        var object = JSONObject()
        object.append(query.json)
        object.append("number", number)
        if !returns.isEmpty { object.append("return", returns) }
        return object
    }
}

/// The former values of an item.
package struct KeychainHistory: Hashable, WireObject {
    /// The values, the newest first.
    package let values: [KeychainFormerValue]

    package init(values: [KeychainFormerValue]) {
        self.values = values
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        values = try reader.values("values", of: KeychainFormerValue.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("values", values)
        return object
    }
}

/// The parameters of `keychain.publicKey`.
///
/// Returns the public key of a key or a certificate.
package struct KeychainPublicKeyParameters: MethodParameters {
    package typealias Result = KeychainPublicKey
    package static var method: Method { .keychainPublicKey }
    /// What is searched for.
    package let query: KeychainQuery

    package init(_ query: KeychainQuery) {
        self.query = query
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(query.json)
        return object
    }
}

extension KeychainPublicKey: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            bytes: try reader.bytes("publicKey"),
            keyType: try reader.string("keyType")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("publicKey", bytes)
        object.append("keyType", keyType)
        return object
    }
}

/// The parameters of `keychain.restore`.
///
/// Makes a former value the secret of the item again.
package struct KeychainRestoreParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .keychainRestore }
    /// What is searched for.
    package let query: KeychainQuery
    /// The number of the former value.
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
        var object = JSONObject()
        object.append(query.json)
        object.append("number", number)
        return object
    }
}

/// The parameters of `keychain.sign`.
///
/// Signs the payload with a private key. The signature is the payload of the answer.
package struct KeychainSignParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .keychainSign }
    /// What is searched for.
    package let query: KeychainQuery

    package init(_ query: KeychainQuery) {
        self.query = query
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(query.json)
        return object
    }
}

/// The parameters of `keychain.update`.
///
/// Changes every item that the query finds. The payload is the new secret; without one the secret
/// stays.
package struct KeychainUpdateParameters: MethodParameters {
    package typealias Result = KeychainUpdateResult
    package static var method: Method { .keychainUpdate }
    /// What is searched for.
    package let query: KeychainQuery
    /// What changes besides the secret.
    ///
    /// Absent means: nothing but the secret.
    package let change: KeychainChange

    package init(_ query: KeychainQuery, _ change: KeychainChange = KeychainChange()) {
        self.query = query
        self.change = change
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        change = try reader.change("set", of: query.itemClass)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(query.json)
        if !change.isEmpty { object.append("set", change) }
        return object
    }
}

/// How many items were changed.
package struct KeychainUpdateResult: Hashable, WireObject {
    /// How many items were changed.
    package let count: Int64
    /// What the caller should know, such as that an accessibility is deprecated.
    package let warnings: [String]

    package init(count: Int64, warnings: [String] = []) {
        self.count = count
        self.warnings = warnings
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        count = try reader.integer("count", in: 0...Int64.max)
        warnings = try reader.optionalStrings("warnings") ?? []
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("count", count)
        object.append("warnings", warnings)
        return object
    }
}
