// packaging/interface writes this file from proto-docs/openrpc.json.

package import CofferCore

/// The parameters of `item.explain`.
///
/// Reports where an item is or would be stored, and what the client may do with it. The first bytes of
/// the content may be the payload.
package struct ItemExplainParameters: MethodParameters {
    package typealias Result = Explanation
    package static var method: Method { .itemExplain }
    /// The name of the item.
    ///
    /// If an item is stored there, its protection counts. Absent means: none.
    package let name: ItemName?
    /// How many bytes the content has.
    ///
    /// Absent means: that of the stored item, else of the payload.
    package let byteCount: Int64?
    /// The state of the vault that is explained.
    ///
    /// Absent means: the present one.
    package let state: VaultState?
    /// The client whose access is explained.
    ///
    /// Absent means: the caller.
    package let client: ClientPattern?
    /// What the caller says about the item.
    package let wishes: ItemWishes

    package init(
        name: ItemName? = nil,
        byteCount: Int64? = nil,
        state: VaultState? = nil,
        client: ClientPattern? = nil,
        wishes: ItemWishes
    ) {
        self.name = name
        self.byteCount = byteCount
        self.state = state
        self.client = client
        self.wishes = wishes
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.optionalName("name")
        byteCount = try reader.optionalInteger("size", in: 0...Int64(Limits.fileBytes))
        state = try reader.value("state", as: VaultState.self)
        client = try reader.optionalClient("as")
        wishes = try ItemWishes(reading: &reader)
    }

    package var json: JSONObject {
        var object = JSONObject()
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
package struct ItemGetParameters: MethodParameters {
    package typealias Result = ItemGetResult
    package static var method: Method { .itemGet }
    /// The name of the item.
    package let name: ItemName
    /// Where the range begins, in bytes.
    ///
    /// Absent means 0.
    package let offset: Int64?
    /// How many bytes are delivered at most.
    ///
    /// Absent means: to the end.
    package let length: Int64?
    /// Whether the client wants progress notifications during the request.
    ///
    /// Absent means false.
    package let wantsProgress: Bool

    package init(
        name: ItemName,
        offset: Int64? = nil,
        length: Int64? = nil,
        wantsProgress: Bool = false
    ) {
        self.name = name
        self.offset = offset
        self.length = length
        self.wantsProgress = wantsProgress
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        offset = try reader.optionalInteger("offset", in: 0...Int64(Limits.fileBytes))
        length = try reader.optionalInteger("length", in: 0...Int64(Limits.fileBytes))
        wantsProgress = try reader.optionalBool("progress") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("offset", offset)
        object.append("length", length)
        if wantsProgress { object.append("progress", true) }
        return object
    }
}

/// How an item was delivered.
package struct ItemGetResult: Hashable, WireObject {
    /// The store that holds the item.
    package let store: StoreName
    /// How many bytes were delivered.
    package let byteCount: Int64
    /// How the content was delivered.
    package let delivery: Delivery

    package init(store: StoreName, byteCount: Int64, delivery: Delivery) {
        self.store = store
        self.byteCount = byteCount
        self.delivery = delivery
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        store = try reader.required("store", as: StoreName.self)
        byteCount = try reader.integer("size", in: 0...Int64.max)
        delivery = try reader.required("delivery", as: Delivery.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("store", store)
        object.append("size", byteCount)
        object.append("delivery", delivery)
        return object
    }
}

/// The parameters of `item.list`.
///
/// Lists a page of items, in an order that says nothing of their names.
package struct ItemListParameters: MethodParameters {
    package typealias Result = ItemPage
    package static var method: Method { .itemList }
    /// The text that the names have to begin with.
    ///
    /// Absent means: every name.
    package let prefix: String?
    /// The pattern that the names have to match.
    ///
    /// Absent means: every name.
    package let pattern: NamePattern?
    /// The store that the items have to be in.
    ///
    /// Absent means: both.
    package let store: StoreName?
    /// What the page before has returned as `next`.
    ///
    /// Without it, the listing begins. Absent means: from the beginning.
    package let after: String?
    /// How many items the page has at most.
    ///
    /// Absent means 1000.
    package let limit: Int64?
    /// The time before which the items have to expire.
    ///
    /// Items that have expired already are included. Absent means: any.
    package let expiringBefore: Int64?

    package init(
        prefix: String? = nil,
        pattern: NamePattern? = nil,
        store: StoreName? = nil,
        after: String? = nil,
        limit: Int64? = nil,
        expiringBefore: Int64? = nil
    ) {
        self.prefix = prefix
        self.pattern = pattern
        self.store = store
        self.after = after
        self.limit = limit
        self.expiringBefore = expiringBefore
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        prefix = try reader.optionalString("prefix")
        pattern = try reader.optionalPattern("pattern")
        store = try reader.value("store", as: StoreName.self)
        after = try reader.optionalString("after")
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems))
        expiringBefore = try reader.optionalInteger("expiringBefore")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("prefix", prefix)
        object.append("pattern", pattern)
        object.append("store", store)
        object.append("after", after)
        object.append("limit", limit)
        object.append("expiringBefore", expiringBefore)
        return object
    }
}

/// A page of items.
public struct ItemPage: Hashable, Sendable {
    /// The items.
    public let items: [ItemInfo]
    /// What the next page is called with.
    ///
    /// It is absent after the last page.
    public let next: String?
    /// How many rows of this page are damaged, so that they have no name to list.
    public let damagedCount: Int

    package init(items: [ItemInfo], next: String? = nil, damagedCount: Int) {
        self.items = items
        self.next = next
        self.damagedCount = damagedCount
    }
}

extension ItemPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        items = try reader.values("items", of: ItemInfo.self)
        next = try reader.optionalString("next")
        damagedCount = Int(try reader.integer("damaged", in: 0...Int64.max))
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("items", items)
        object.append("next", next)
        object.append("damaged", damagedCount)
        return object
    }
}

/// The parameters of `item.move`.
///
/// Gives an item another name.
package struct ItemMoveParameters: MethodParameters {
    package typealias Result = ItemInfo
    package static var method: Method { .itemMove }
    /// The name of the item.
    package let name: ItemName
    /// The new name.
    package let target: ItemName
    /// Whether an existing item of the new name is replaced.
    ///
    /// Absent means false.
    package let replaces: Bool

    package init(name: ItemName, target: ItemName, replaces: Bool = false) {
        self.name = name
        self.target = target
        self.replaces = replaces
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        target = try reader.name("to")
        replaces = try reader.optionalBool("replace") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("to", target)
        if replaces { object.append("replace", true) }
        return object
    }
}

/// The parameters of `item.protect`.
///
/// Gives an item another protection. Exactly one of class and accessible is given; either is translated
/// for the store that holds the item.
package struct ItemProtectParameters: MethodParameters {
    package typealias Result = ProtectionChange
    package static var method: Method { .itemProtect }
    /// The name of the item.
    package let name: ItemName
    /// The protection class that the item is to have.
    ///
    /// Absent means: exactly one of the two.
    package let protectionClass: ProtectionClass?
    /// When the item is to be accessible.
    ///
    /// Absent means: exactly one of the two.
    package let accessibility: Accessibility?

    package init(
        name: ItemName,
        protectionClass: ProtectionClass? = nil,
        accessibility: Accessibility? = nil
    ) {
        self.name = name
        self.protectionClass = protectionClass
        self.accessibility = accessibility
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        protectionClass = try reader.value("class", as: ProtectionClass.self)
        accessibility = try reader.value("accessible", as: Accessibility.self)
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        object.append("class", protectionClass)
        object.append("accessible", accessibility)
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
        var object = JSONObject()
        object.append(item.json)
        object.append("warnings", warnings)
        return object
    }
}

/// The parameters of `item.put`.
///
/// Stores an item. The content is the payload, followed by what the descriptor delivers.
package struct ItemPutParameters: MethodParameters {
    package typealias Result = Placement
    package static var method: Method { .itemPut }
    /// The name of the item.
    package let name: ItemName
    /// What the caller says about the item.
    package let wishes: ItemWishes
    /// Whether the client wants progress notifications during the request.
    ///
    /// Absent means false.
    package let wantsProgress: Bool

    package init(name: ItemName, wishes: ItemWishes, wantsProgress: Bool = false) {
        self.name = name
        self.wishes = wishes
        self.wantsProgress = wantsProgress
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        wishes = try ItemWishes(reading: &reader)
        wantsProgress = try reader.optionalBool("progress") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append(wishes.json)
        object.append("name", name)
        if wantsProgress { object.append("progress", true) }
        return object
    }
}

/// The parameters of `item.remove`.
///
/// Removes an item.
package struct ItemRemoveParameters: MethodParameters {
    package typealias Result = Empty
    package static var method: Method { .itemRemove }
    /// The name of the item.
    package let name: ItemName

    package init(name: ItemName) {
        self.name = name
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        return object
    }
}

/// The parameters of `item.show`.
///
/// Reports on an item without its content.
package struct ItemShowParameters: MethodParameters {
    package typealias Result = ItemInfo
    package static var method: Method { .itemShow }
    /// The name of the item.
    package let name: ItemName

    package init(name: ItemName) {
        self.name = name
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.append("name", name)
        return object
    }
}
