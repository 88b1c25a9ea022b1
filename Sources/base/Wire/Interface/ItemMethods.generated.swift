// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `item.explain`.
///
/// Reports where an item is or would be stored, and what the client may do with it. The first bytes of
/// the content may be the payload.
///
/// - Throws: `dataTooLarge`, `decode`, `interactionNotAllowed`, `internal`, `io`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct ItemExplainParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Explanation
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.itemExplain) }
    /// The name of the item.
    ///
    /// If an item is stored there, its protection counts. Absent means: none.
    public let name: ItemName?
    /// How many bytes the content has.
    ///
    /// Absent means: that of the stored item, else of the payload.
    public let byteCount: Int64?
    /// The state of the vault that is explained.
    ///
    /// Absent means: the current one.
    public let state: VaultState?
    /// The client whose access is explained.
    ///
    /// Absent means: the caller.
    public let client: ClientPattern?
    /// What the caller says about the item.
    public let wishes: PlacementOptions

    /// Makes the parameters.
    public init(
        name: ItemName? = nil,
        byteCount: Int64? = nil,
        state: VaultState? = nil,
        client: ClientPattern? = nil,
        wishes: PlacementOptions = PlacementOptions()
    ) {
        self.name = name
        self.byteCount = byteCount
        self.state = state
        self.client = client
        self.wishes = wishes
    }
}

extension ItemExplainParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        byteCount = try reader.optionalInteger("size", in: 0...Int64(Limits.fileBytes))
        state = try reader.value("state", as: VaultState.self)
        client = try reader.optionalClient("as")
        wishes = try PlacementOptions(reading: &reader)
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append(wishes.json)
        object.append("name", name)
        object.append("size", byteCount)
        object.append("state", state)
        object.append("as", client)
        return object
    }
}

/// The parameters of `item.get`.
///
/// Delivers the content of an item, as payload or into the descriptor.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`,
///   `interactionRequired`, `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`,
///   `param`, `userCanceled`.
public struct ItemGetParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = ItemGetResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.itemGet) }
    /// The name of the item.
    public let name: ItemName
    /// Where the range begins, in bytes.
    ///
    /// Absent means 0.
    public let offset: Int64?
    /// How many bytes are delivered at most.
    ///
    /// Absent means: to the end.
    public let length: Int64?
    /// Whether the client wants progress notifications during the request.
    ///
    /// Absent means false.
    public let wantsProgress: Bool
    /// The access group of the item.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName,
        offset: Int64? = nil,
        length: Int64? = nil,
        wantsProgress: Bool = false,
        group: String? = nil
    ) {
        self.name = name
        self.offset = offset
        self.length = length
        self.wantsProgress = wantsProgress
        self.group = group
    }
}

extension ItemGetParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        offset = try reader.optionalInteger("offset", in: 0...Int64(Limits.fileBytes))
        length = try reader.optionalInteger("length", in: 0...Int64(Limits.fileBytes))
        wantsProgress = try reader.optionalBool("progress") ?? false
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("name", name)
        object.append("offset", offset)
        object.append("length", length)
        if wantsProgress { object.append("progress", true) }
        object.append("group", group)
        return object
    }
}

/// How an item was delivered.
public struct ItemGetResult: Hashable, Sendable {
    /// The store that holds the item.
    public let store: StoreName
    /// How many bytes were delivered.
    public let byteCount: Int64
    /// How the content was delivered.
    public let delivery: Delivery
    /// Until when the item is valid.
    ///
    /// It is absent if the item does not expire.
    public let expiryDate: Int64?
    /// Whether the expiry date has passed.
    ///
    /// Absent means false.
    public let isExpired: Bool

    package init(
        store: StoreName,
        byteCount: Int64,
        delivery: Delivery,
        expiryDate: Int64? = nil,
        isExpired: Bool = false
    ) {
        self.store = store
        self.byteCount = byteCount
        self.delivery = delivery
        self.expiryDate = expiryDate
        self.isExpired = isExpired
    }
}

extension ItemGetResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        store = try reader.required("store", as: StoreName.self)
        byteCount = try reader.integer("size", in: 0...Int64.max)
        delivery = try reader.required("delivery", as: Delivery.self)
        expiryDate = try reader.optionalInteger("expiryDate")
        isExpired = try reader.optionalBool("isExpired") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("store", store)
        object.append("size", byteCount)
        object.append("delivery", delivery)
        object.append("expiryDate", expiryDate)
        if isExpired { object.append("isExpired", true) }
        return object
    }
}

/// The parameters of `item.list`.
///
/// Lists a page of items, in an order that does not depend on their names.
///
/// - Throws: `decode`, `interactionRequired`, `internal`, `io`, `missingEntitlement`, `notAvailable`,
///   `param`, `userCanceled`.
public struct ItemListParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = ItemPage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.itemList) }
    /// The text with which the names begin.
    ///
    /// Absent means: every name.
    public let prefix: String?
    /// The pattern that the names match.
    ///
    /// Absent means: every name.
    public let pattern: NamePattern?
    /// Whether the case of letters is ignored, in `prefix` and `pattern` and in the names.
    ///
    /// Absent means false.
    public let ignoresCase: Bool
    /// A text that the name or a text attribute of an item contains.
    ///
    /// The case of letters is ignored. Absent means: any.
    public let text: String?
    /// Words with spaces between: the attribute `tags` of an item's own has each of them.
    ///
    /// `ignoreCase` counts for them, too. Absent means: any.
    public let tags: String?
    /// The class of the items of the keychain.
    ///
    /// Files have none. Items with isInvisible are listed with their class only. Absent means: all, and
    /// files.
    public let itemClass: ItemClass?
    /// The store of the items.
    ///
    /// Absent means: both.
    public let store: StoreName?
    /// The `next` of the previous page.
    ///
    /// Without it, the listing begins. Absent means: from the beginning.
    public let after: String?
    /// How many items the page has at most.
    ///
    /// Absent means 1000.
    public let limit: Int64?
    /// The time before which the items expire.
    ///
    /// Items that have expired already are included. Absent means: any.
    public let expiringBefore: Int64?
    /// The access group of the items.
    ///
    /// Absent means: the caller's first group.
    public let group: String?
    /// Whether the items of all groups are listed that the client may name.
    ///
    /// It excludes `group`. Absent means false.
    public let isOfAllGroups: Bool
    /// Whether only what a shell may complete `prefix` to is wanted.
    ///
    /// Of the other parameters, it takes `group` only. Absent means false.
    public let wantsCompletions: Bool
    /// Whether the listing is for an export.
    ///
    /// It requires that the passcode was presented on this connection, unless the vault has none, and the
    /// audit records what it is for. Absent means false.
    public let isForExport: Bool

    /// Makes the parameters.
    public init(
        prefix: String? = nil,
        pattern: NamePattern? = nil,
        ignoresCase: Bool = false,
        text: String? = nil,
        tags: String? = nil,
        itemClass: ItemClass? = nil,
        store: StoreName? = nil,
        after: String? = nil,
        limit: Int64? = nil,
        expiringBefore: Int64? = nil,
        group: String? = nil,
        isOfAllGroups: Bool = false,
        wantsCompletions: Bool = false,
        isForExport: Bool = false
    ) {
        self.prefix = prefix
        self.pattern = pattern
        self.ignoresCase = ignoresCase
        self.text = text
        self.tags = tags
        self.itemClass = itemClass
        self.store = store
        self.after = after
        self.limit = limit
        self.expiringBefore = expiringBefore
        self.group = group
        self.isOfAllGroups = isOfAllGroups
        self.wantsCompletions = wantsCompletions
        self.isForExport = isForExport
    }
}

extension ItemListParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        prefix = try reader.optionalString("prefix")
        pattern = try reader.optionalPattern("pattern")
        ignoresCase = try reader.optionalBool("ignoreCase") ?? false
        text = try reader.optionalString("text")
        tags = try reader.optionalString("tags")
        itemClass = try reader.value("class", as: ItemClass.self)
        store = try reader.value("store", as: StoreName.self)
        after = try reader.optionalString("after")
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems))
        expiringBefore = try reader.optionalInteger("expiringBefore")
        group = try reader.optionalString("group")
        isOfAllGroups = try reader.optionalBool("allGroups") ?? false
        wantsCompletions = try reader.optionalBool("completions") ?? false
        isForExport = try reader.optionalBool("export") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append("prefix", prefix)
        object.append("pattern", pattern)
        if ignoresCase { object.append("ignoreCase", true) }
        object.append("text", text)
        object.append("tags", tags)
        object.append("class", itemClass)
        object.append("store", store)
        object.append("after", after)
        object.append("limit", limit)
        object.append("expiringBefore", expiringBefore)
        object.append("group", group)
        if isOfAllGroups { object.append("allGroups", true) }
        if wantsCompletions { object.append("completions", true) }
        if isForExport { object.append("export", true) }
        return object
    }
}

/// A page of items.
public struct ItemPage: Hashable, Sendable {
    /// The items.
    public let items: [ItemInfo]
    /// The cursor for the next page.
    ///
    /// It is absent after the last page.
    public let next: String?
    /// How many rows of this page are damaged, so that their names can't be read.
    public let damagedCount: Int
    /// How many more rows were passed over because what they name can be read after the first unlock only.
    ///
    /// Absent means 0.
    public let sealedCount: Int
    /// If `completions` was asked for, instead of `items`: the names that begin with `prefix`, in the order
    /// of their bytes; if they are more than 256, their next parts, up to a slash; and if these are more
    /// than 1000, the first of them and the last.
    public let names: [String]

    package init(
        items: [ItemInfo],
        next: String? = nil,
        damagedCount: Int,
        sealedCount: Int = 0,
        names: [String] = []
    ) {
        self.items = items
        self.next = next
        self.damagedCount = damagedCount
        self.sealedCount = sealedCount
        self.names = names
    }
}

extension ItemPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        items = try reader.values("items", of: ItemInfo.self)
        next = try reader.optionalString("next")
        damagedCount = Int(try reader.integer("damaged", in: 0...Int64.max))
        sealedCount = try reader.optionalInteger("sealedCount", in: 0...Int64.max).map { Int($0) } ?? 0
        names = try reader.optionalStrings("names") ?? []
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("items", items)
        object.append("next", next)
        object.append("damaged", damagedCount)
        if sealedCount != 0 { object.append("sealedCount", sealedCount) }
        if !names.isEmpty { object.append("names", names) }
        return object
    }
}

/// The parameters of `item.move`.
///
/// Renames an item.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`,
///   `interactionNotAllowed`, `interactionRequired`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct ItemMoveParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = ItemInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.itemMove) }
    /// The name of the item.
    public let name: ItemName
    /// The new name.
    public let target: ItemName
    /// Whether an existing item of the new name is replaced.
    ///
    /// Absent means false.
    public let replaces: Bool
    /// The access group of the item.
    ///
    /// It stays in it. Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName,
        target: ItemName,
        replaces: Bool = false,
        group: String? = nil
    ) {
        self.name = name
        self.target = target
        self.replaces = replaces
        self.group = group
    }
}

extension ItemMoveParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        target = try reader.name("to")
        replaces = try reader.optionalBool("replace") ?? false
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("name", name)
        object.append("to", target)
        if replaces { object.append("replace", true) }
        object.append("group", group)
        return object
    }
}

/// The parameters of `item.protect`.
///
/// Changes the protection of an item, or its store. One of class and accessible is given, which is
/// converted for the store of the item, or both with the same meaning; with a store, neither has to be.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`,
///   `interactionNotAllowed`, `interactionRequired`, `internal`, `io`, `itemNotFound`,
///   `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct ItemProtectParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = ProtectionChange
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.itemProtect) }
    /// The name of the item.
    public let name: ItemName
    /// The new protection class.
    ///
    /// Absent means: one of the two, or both with the same meaning.
    public let protectionClass: ProtectionClass?
    /// The new accessibility.
    ///
    /// Absent means: one of the two, or both with the same meaning.
    public let accessibility: Accessibility?
    /// The store that the item moves to, with its attributes and its former values.
    ///
    /// Absent means: the one that holds it.
    public let store: StoreName?
    /// The access group of the item.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(
        name: ItemName,
        protectionClass: ProtectionClass? = nil,
        accessibility: Accessibility? = nil,
        store: StoreName? = nil,
        group: String? = nil
    ) {
        self.name = name
        self.protectionClass = protectionClass
        self.accessibility = accessibility
        self.store = store
        self.group = group
    }
}

extension ItemProtectParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        protectionClass = try reader.value("class", as: ProtectionClass.self)
        accessibility = try reader.value("accessible", as: Accessibility.self)
        store = try reader.value("store", as: StoreName.self)
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("name", name)
        object.append("class", protectionClass)
        object.append("accessible", accessibility)
        object.append("store", store)
        object.append("group", group)
        return object
    }
}

/// An item whose protection was changed.
public struct ProtectionChange: Hashable, Sendable {
    /// An item as a listing shows it, without its content.
    public let item: ItemInfo
    /// What the caller should know, such as that a value is deprecated.
    public let warnings: [String]

    package init(item: ItemInfo, warnings: [String]) {
        self.item = item
        self.warnings = warnings
    }
}

extension ProtectionChange: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        item = try ItemInfo(reading: &reader)
        warnings = try reader.strings("warnings")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append(item.json)
        object.append("warnings", warnings)
        return object
    }
}

/// The parameters of `item.put`.
///
/// Stores an item. The content is the payload, followed by what the descriptor delivers.
///
/// - Throws: `authFailed`, `dataTooLarge`, `decode`, `diskFull`, `duplicateItem`,
///   `interactionNotAllowed`, `interactionRequired`, `internal`, `io`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct ItemPutParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = Placement
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.itemPut) }
    /// The name of the item.
    public let name: ItemName
    /// What the caller says about the item.
    public let wishes: PlacementOptions
    /// Attributes of a generic password that the item gets.
    ///
    /// A file has them as extended attributes. Absent means {}.
    public let attributes: [KeychainAttribute: AttributeValue]
    /// User-defined attributes that the item gets.
    ///
    /// A file has them as extended attributes. Absent means {}.
    public let user: [AttributeName: String]
    /// Whether nothing is stored if there is an item of the name already.
    ///
    /// Absent means false.
    public let isIfAbsent: Bool
    /// The authentication that is required before the secret is used.
    ///
    /// A file has none. Absent means: of a new secret no authentication; otherwise as it is.
    public let accessControl: AccessControl?
    /// How many former values of a secret are kept, or former contents of a file.
    ///
    /// Absent means: of a new secret 10, of a new file as many as its directory says; otherwise as it is.
    public let keepCount: Int?
    /// Whether the client wants progress notifications during the request.
    ///
    /// Absent means false.
    public let wantsProgress: Bool

    /// Makes the parameters.
    public init(
        name: ItemName,
        wishes: PlacementOptions = PlacementOptions(),
        attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [AttributeName: String] = [:],
        isIfAbsent: Bool = false,
        accessControl: AccessControl? = nil,
        keepCount: Int? = nil,
        wantsProgress: Bool = false
    ) {
        self.name = name
        self.wishes = wishes
        self.attributes = attributes
        self.user = user
        self.isIfAbsent = isIfAbsent
        self.accessControl = accessControl
        self.keepCount = keepCount
        self.wantsProgress = wantsProgress
    }
}

extension ItemPutParameters: WireObject {
    package static var neverNull: [String] { ["ifAbsent"] }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        wishes = try PlacementOptions(reading: &reader)
        attributes = try reader.attributes("attributes", of: .genericPassword, inQuery: false)
        user = try reader.userAttributes("user")
        isIfAbsent = try reader.optionalBool("ifAbsent") ?? false
        accessControl = try reader.accessControl("accessControl")
        keepCount = try reader.optionalInteger("keep", in: 0...Int64(Limits.historyValues)).map { Int($0) }
        wantsProgress = try reader.optionalBool("progress") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 8)
        object.append(wishes.json)
        object.append("name", name)
        if !attributes.isEmpty { object.append("attributes", attributes) }
        if !user.isEmpty { object.append("user", user) }
        if isIfAbsent { object.append("ifAbsent", true) }
        object.append("accessControl", accessControl)
        object.append("keep", keepCount)
        if wantsProgress { object.append("progress", true) }
        return object
    }
}

/// The parameters of `item.remove`.
///
/// Removes an item.
///
/// - Throws: `dataTooLarge`, `decode`, `diskFull`, `interactionNotAllowed`, `interactionRequired`,
///   `internal`, `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct ItemRemoveParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = ItemRemoveResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.itemRemove) }
    /// The name of the item.
    public let name: ItemName
    /// Whether the item goes to the trash, if the daemon keeps one.
    ///
    /// Otherwise it is destroyed at once. Absent means false.
    public let keepsInTrash: Bool
    /// The access group of the item.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName, keepsInTrash: Bool = false, group: String? = nil) {
        self.name = name
        self.keepsInTrash = keepsInTrash
        self.group = group
    }
}

extension ItemRemoveParameters: WireObject {
    package static var neverNull: [String] { ["trash", "group"] }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        keepsInTrash = try reader.optionalBool("trash") ?? false
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("name", name)
        if keepsInTrash { object.append("trash", true) }
        object.append("group", group)
        return object
    }
}

/// What became of a removed item.
public struct ItemRemoveResult: Hashable, Sendable {
    /// The number of the item in the trash.
    ///
    /// It is absent if the item was destroyed, or if it was one name of a file that has others.
    public let number: Int64?

    package init(number: Int64? = nil) {
        self.number = number
    }
}

extension ItemRemoveResult: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.optionalInteger("entry")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 1)
        object.append("entry", number)
        return object
    }
}

/// The parameters of `item.show`.
///
/// Reports on an item without its content.
///
/// - Throws: `decode`, `interactionNotAllowed`, `internal`, `io`, `itemNotFound`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct ItemShowParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = ItemInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.itemShow) }
    /// The name of the item.
    public let name: ItemName
    /// The access group of the item.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(name: ItemName, group: String? = nil) {
        self.name = name
        self.group = group
    }
}

extension ItemShowParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("name", name)
        object.append("group", group)
        return object
    }
}

/// The parameters of `item.simulate`.
///
/// Lists a page of items, with what a client could do with each in a state of the vault.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct ItemSimulateParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = SimulationPage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.itemSimulate) }
    /// The state of the vault that is simulated.
    ///
    /// Absent means: the current one.
    public let state: VaultState?
    /// The client whose access is simulated.
    ///
    /// Absent means: the caller.
    public let client: ClientPattern?
    /// The access group of the items.
    ///
    /// Absent means: the caller's first group.
    public let group: String?
    /// The `next` of the previous page.
    ///
    /// Without it, the listing begins. Absent means: from the beginning.
    public let after: String?
    /// How many items the page has at most.
    ///
    /// Absent means 1000.
    public let limit: Int64?

    /// Makes the parameters.
    public init(
        state: VaultState? = nil,
        client: ClientPattern? = nil,
        group: String? = nil,
        after: String? = nil,
        limit: Int64? = nil
    ) {
        self.state = state
        self.client = client
        self.group = group
        self.after = after
        self.limit = limit
    }
}

extension ItemSimulateParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        state = try reader.value("state", as: VaultState.self)
        client = try reader.optionalClient("as")
        group = try reader.optionalString("group")
        after = try reader.optionalString("after")
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems))
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 5)
        object.append("state", state)
        object.append("as", client)
        object.append("group", group)
        object.append("after", after)
        object.append("limit", limit)
        return object
    }
}

/// A page of items, and what a client could do with them.
public struct SimulationPage: Hashable, Sendable {
    /// The items.
    public let items: [SimulatedItem]
    /// The cursor for the next page.
    ///
    /// It is absent after the last page.
    public let next: String?
    /// How many rows of this page are damaged, so that their names can't be read.
    public let damagedCount: Int
    /// How many more rows were passed over because what they name can be read after the first unlock only.
    ///
    /// Absent means 0.
    public let sealedCount: Int

    package init(
        items: [SimulatedItem],
        next: String? = nil,
        damagedCount: Int,
        sealedCount: Int = 0
    ) {
        self.items = items
        self.next = next
        self.damagedCount = damagedCount
        self.sealedCount = sealedCount
    }
}

extension SimulationPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        items = try reader.values("items", of: SimulatedItem.self)
        next = try reader.optionalString("next")
        damagedCount = Int(try reader.integer("damaged", in: 0...Int64.max))
        sealedCount = try reader.optionalInteger("sealedCount", in: 0...Int64.max).map { Int($0) } ?? 0
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 4)
        object.append("items", items)
        object.append("next", next)
        object.append("damaged", damagedCount)
        if sealedCount != 0 { object.append("sealedCount", sealedCount) }
        return object
    }
}
