// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `keychain.add`.
///
/// Adds an item to the keychain. The payload is its secret, or empty if the daemon generates a key.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`,
///   `interactionNotAllowed`, `interactionRequired`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct KeychainAddParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = KeychainAddResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.keychainAdd) }
    /// The class of the item.
    public let itemClass: ItemClass
    /// The attributes of the item.
    ///
    /// Absent means {}.
    public let attributes: [KeychainAttribute: AttributeValue]
    /// The user-defined attributes.
    ///
    /// Absent means {}.
    public let user: [AttributeName: String]
    /// When the item is accessible.
    ///
    /// Absent means WhenUnlocked.
    public let accessibility: Accessibility?
    /// How many former values of the secret are kept.
    ///
    /// Absent means 10.
    public let historyCount: Int?
    /// The authentication that is required before the secret is used.
    ///
    /// Absent means: no authentication.
    public let accessControl: AccessControl?
    /// The type of the private key that the daemon generates; it is not extractable unless 'isExtractable'
    /// is true.
    ///
    /// Such an item has no payload. Absent means: the payload is stored.
    public let generates: KeyType?
    /// What is returned of the new item.
    ///
    /// Absent means [].
    public let returns: Set<KeychainReturn>

    /// Makes the parameters.
    public init(
        _ itemClass: ItemClass,
        _ attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [AttributeName: String] = [:],
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
}

extension KeychainAddParameters: WireObject {
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
        var object = JSONObject(capacity: 8)
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
public struct KeychainAddResult: Hashable, Sendable {
    /// The persistent reference of the new item.
    public let reference: ItemID
    /// What the request asked to be returned of the item.
    ///
    /// It is absent if the request asked for nothing.
    public let item: KeychainItemInfo?
    /// What the caller should know, such as that an accessibility is deprecated.
    public let warnings: [String]

    package init(
        reference: ItemID,
        item: KeychainItemInfo? = nil,
        warnings: [String] = []
    ) {
        self.reference = reference
        self.item = item
        self.warnings = warnings
    }
}

extension KeychainAddResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        reference = try reader.itemID("reference")
        item = try reader.value("item", of: KeychainItemInfo.self)
        warnings = try reader.optionalStrings("warnings") ?? []
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("reference", reference)
        object.append("item", item)
        object.append("warnings", warnings)
        return object
    }
}

/// The parameters of `keychain.agree`.
///
/// Computes a shared secret with a private key. It is the payload of the answer.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `interactionNotAllowed`, `interactionRequired`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct KeychainAgreeParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.keychainAgree) }
    /// What is searched for.
    public let query: KeychainQuery
    /// The other side's public key: 32 bytes in base64.
    public let peer: [UInt8]

    /// Makes the parameters.
    public init(_ query: KeychainQuery, peer: [UInt8]) {
        self.query = query
        self.peer = peer
    }
}

extension KeychainAgreeParameters: WireObject {
    package static var neverNull: [String] {
        ["class", "attributes", "user", "prefix", "contains", "reference", "expiringBefore"]
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        peer = try reader.bytes("peer")
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append(query.json)
        object.append("peer", peer)
        return object
    }
}

/// The parameters of `keychain.delete`.
///
/// Deletes every item that the query finds.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`,
///   `interactionRequired`, `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`,
///   `param`, `userCanceled`.
public struct KeychainDeleteParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = CountResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.keychainDelete) }
    /// What is searched for.
    public let query: KeychainQuery
    /// Whether every item of the class is meant.
    ///
    /// Without a condition, it is required: accessGroup and synchronizable are none, and neither is an
    /// empty text in prefix or contains. Absent means false.
    public let isForAll: Bool

    /// Makes the parameters.
    public init(_ query: KeychainQuery, isForAll: Bool = false) {
        self.query = query
        self.isForAll = isForAll
    }
}

extension KeychainDeleteParameters: WireObject {
    package static var neverNull: [String] {
        ["class", "attributes", "user", "prefix", "contains", "reference", "expiringBefore", "all"]
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        isForAll = try reader.optionalBool("all") ?? false
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append(query.json)
        if isForAll { object.append("all", true) }
        return object
    }
}

/// The parameters of `keychain.find`.
///
/// Finds items of the keychain. The payload of the answer is their secrets, if the request asks for
/// them.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `interactionNotAllowed`, `interactionRequired`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct KeychainFindParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = KeychainPage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.keychainFind) }
    /// What is searched for.
    public let query: KeychainQuery
    /// How many items are returned at most: a number, or all.
    ///
    /// Absent means 1.
    public let limit: KeychainLimit
    /// The cursor of the previous page.
    ///
    /// Absent means: from the beginning.
    public let cursor: String?
    /// The order of the items.
    ///
    /// Absent means: in the order of adding.
    public let order: KeychainOrder?
    /// What is returned of each item.
    ///
    /// Absent means ["data"].
    public let returns: Set<KeychainReturn>

    /// Makes the parameters.
    public init(
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
}

extension KeychainFindParameters: WireObject {
    package static var neverNull: [String] {
        ["class", "attributes", "user", "prefix", "contains", "reference", "expiringBefore"]
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
        var object = JSONObject(capacity: 5)
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
    /// How many items were found whose secret was asked for and is locked: they are in `items`, without
    /// `bytes`.
    public let lockedCount: Int
    /// How many items were found whose access control is not satisfied.
    public let unauthenticatedCount: Int
    /// How many items were found whose secret can never be opened again.
    ///
    /// Absent means 0.
    public let leftBehindCount: Int
    /// How many rows were skipped because they are damaged.
    public let damagedCount: Int
    /// How many more items may match, which can be read after the first unlock only.
    ///
    /// Absent means 0.
    public let sealedCount: Int
    /// The cursor for the next page.
    ///
    /// It is absent after the last page.
    public let cursor: String?

    package init(
        items: [KeychainItemInfo],
        lockedCount: Int,
        unauthenticatedCount: Int = 0,
        leftBehindCount: Int = 0,
        damagedCount: Int = 0,
        sealedCount: Int = 0,
        cursor: String? = nil
    ) {
        self.items = items
        self.lockedCount = lockedCount
        self.unauthenticatedCount = unauthenticatedCount
        self.leftBehindCount = leftBehindCount
        self.damagedCount = damagedCount
        self.sealedCount = sealedCount
        self.cursor = cursor
    }
}

extension KeychainPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        items = try reader.values("items", of: KeychainItemInfo.self)
        lockedCount = Int(try reader.integer("lockedCount", in: 0...Int64.max))
        unauthenticatedCount =
            try reader.optionalInteger("unauthenticatedCount", in: 0...Int64.max).map { Int($0) } ?? 0
        leftBehindCount = try reader.optionalInteger("leftBehindCount", in: 0...Int64.max).map { Int($0) } ?? 0
        damagedCount = try reader.optionalInteger("damagedCount", in: 0...Int64.max).map { Int($0) } ?? 0
        sealedCount = try reader.optionalInteger("sealedCount", in: 0...Int64.max).map { Int($0) } ?? 0
        cursor = try reader.optionalString("cursor")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 7)
        object.append("items", items)
        object.append("lockedCount", lockedCount)
        object.append("unauthenticatedCount", unauthenticatedCount)
        if leftBehindCount != 0 { object.append("leftBehindCount", leftBehindCount) }
        object.append("damagedCount", damagedCount)
        if sealedCount != 0 { object.append("sealedCount", sealedCount) }
        object.append("cursor", cursor)
        return object
    }
}

/// The parameters of `keychain.history`.
///
/// Reports the former values of an item. The payload of the answer is the value, if the request asks
/// for it.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `interactionNotAllowed`, `interactionRequired`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct KeychainHistoryParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = KeychainHistory
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.keychainHistory) }
    /// What is searched for.
    public let query: KeychainQuery
    /// The number of the value that is reported.
    ///
    /// Absent means: all.
    public let number: Int64?
    /// What is returned of each value.
    ///
    /// Absent means [].
    public let returns: Set<KeychainReturn>

    /// Makes the parameters.
    public init(
        _ query: KeychainQuery,
        number: Int64? = nil,
        returns: Set<KeychainReturn> = []
    ) {
        self.query = query
        self.number = number
        self.returns = returns
    }
}

extension KeychainHistoryParameters: WireObject {
    package static var neverNull: [String] {
        ["class", "attributes", "user", "prefix", "contains", "reference", "expiringBefore"]
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        number = try reader.optionalInteger("number", in: 0...Int64.max)
        returns = try reader.returns("return", from: [.data], orElse: [])
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append(query.json)
        object.append("number", number)
        if !returns.isEmpty { object.append("return", returns) }
        return object
    }
}

/// The former values of an item.
public struct KeychainHistory: Hashable, Sendable {
    /// The values, the newest first.
    public let values: [KeychainFormerValue]
    /// The numbers of the damaged ones.
    public let damaged: [Int64]

    package init(values: [KeychainFormerValue], damaged: [Int64]) {
        self.values = values
        self.damaged = damaged
    }
}

extension KeychainHistory: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        values = try reader.values("values", of: KeychainFormerValue.self)
        damaged = try reader.integers("damaged")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("values", values)
        object.append("damaged", damaged)
        return object
    }
}

/// The parameters of `keychain.publicKey`.
///
/// Returns the public key of a key or a certificate.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `interactionNotAllowed`, `interactionRequired`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct KeychainPublicKeyParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = KeychainPublicKey
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.keychainPublicKey) }
    /// What is searched for.
    public let query: KeychainQuery

    /// Makes the parameters.
    public init(_ query: KeychainQuery) {
        self.query = query
    }
}

extension KeychainPublicKeyParameters: WireObject {
    package static var neverNull: [String] {
        ["class", "attributes", "user", "prefix", "contains", "reference", "expiringBefore"]
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append(query.json)
        return object
    }
}

extension KeychainPublicKey: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        let bytes = try reader.bytes("publicKey")
        let keyType = try reader.string("keyType")
        self.init(bytes: bytes, keyType: keyType)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("publicKey", bytes)
        object.append("keyType", keyType)
        return object
    }
}

/// The parameters of `keychain.restore`.
///
/// Restores a former value as the secret of the item.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`,
///   `interactionRequired`, `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`,
///   `param`, `userCanceled`.
public struct KeychainRestoreParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.keychainRestore) }
    /// What is searched for.
    public let query: KeychainQuery
    /// The number of the former value.
    public let number: Int64

    /// Makes the parameters.
    public init(_ query: KeychainQuery, number: Int64) {
        self.query = query
        self.number = number
    }
}

extension KeychainRestoreParameters: WireObject {
    package static var neverNull: [String] {
        ["class", "attributes", "user", "prefix", "contains", "reference", "expiringBefore"]
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        number = try reader.integer("number", in: 0...Int64.max)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append(query.json)
        object.append("number", number)
        return object
    }
}

/// The parameters of `keychain.sign`.
///
/// Signs the payload with a private key. The signature is the payload of the answer: 64 bytes of
/// Ed25519, PKCS #1 v1.5 of RSA, DER of ECDSA.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `interactionNotAllowed`, `interactionRequired`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct KeychainSignParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Empty
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.keychainSign) }
    /// What is searched for.
    public let query: KeychainQuery
    /// The hash of the message: any of RSA, that of the curve's size of ECDSA, none of Ed25519.
    ///
    /// Absent means: sha256 of RSA, that of the curve's size of ECDSA.
    public let digest: SignatureDigest?

    /// Makes the parameters.
    public init(_ query: KeychainQuery, digest: SignatureDigest? = nil) {
        self.query = query
        self.digest = digest
    }
}

extension KeychainSignParameters: WireObject {
    package static var neverNull: [String] {
        ["class", "attributes", "user", "prefix", "contains", "reference", "expiringBefore"]
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        digest = try reader.value("digest", as: SignatureDigest.self)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append(query.json)
        object.append("digest", digest)
        return object
    }
}

/// The parameters of `keychain.update`.
///
/// Changes every item that the query finds. The payload is the new secret; without one the secret is
/// kept, unless 'emptySecret' is true.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`,
///   `interactionNotAllowed`, `interactionRequired`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct KeychainUpdateParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = KeychainUpdateResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.keychainUpdate) }
    /// What is searched for.
    public let query: KeychainQuery
    /// The changes besides the secret.
    ///
    /// Absent means: only the secret.
    public let change: KeychainChange
    /// Whether the new secret is empty, which no payload can say.
    ///
    /// There is none then. Absent means false.
    public let isSecretEmpty: Bool
    /// Whether every item of the class is meant.
    ///
    /// Without a condition, it is required: accessGroup and synchronizable are none, and neither is an
    /// empty text in prefix or contains. Absent means false.
    public let isForAll: Bool

    /// Makes the parameters.
    public init(
        _ query: KeychainQuery,
        _ change: KeychainChange = KeychainChange(),
        isSecretEmpty: Bool = false,
        isForAll: Bool = false
    ) {
        self.query = query
        self.change = change
        self.isSecretEmpty = isSecretEmpty
        self.isForAll = isForAll
    }
}

extension KeychainUpdateParameters: WireObject {
    package static var neverNull: [String] {
        ["class", "attributes", "user", "prefix", "contains", "reference", "expiringBefore"]
    }

    package static var removedByNull: [String] { ["set"] }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        query = try KeychainQuery(reading: &reader)
        change = try reader.change("set", of: query.itemClass)
        isSecretEmpty = try reader.optionalBool("emptySecret") ?? false
        isForAll = try reader.optionalBool("all") ?? false
        try check()
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append(query.json)
        if !change.isEmpty { object.append("set", change) }
        if isSecretEmpty { object.append("emptySecret", true) }
        if isForAll { object.append("all", true) }
        return object
    }
}

/// How many items were changed.
public struct KeychainUpdateResult: Hashable, Sendable {
    /// How many items were changed.
    public let count: Int64
    /// What the caller should know, such as that an accessibility is deprecated.
    public let warnings: [String]

    package init(count: Int64, warnings: [String] = []) {
        self.count = count
        self.warnings = warnings
    }
}

extension KeychainUpdateResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        count = try reader.integer("count", in: 0...Int64.max)
        warnings = try reader.optionalStrings("warnings") ?? []
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("count", count)
        object.append("warnings", warnings)
        return object
    }
}
