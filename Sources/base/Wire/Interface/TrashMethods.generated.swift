// packaging/tools/interface writes this file from proto-docs/openrpc.json.

public import CofferCore

/// The parameters of `trash.empty`.
///
/// Destroys what is in the trash: one entry, or all that a group has in it.
///
/// - Throws: `decode`, `diskFull`, `internal`, `io`, `itemNotFound`, `missingEntitlement`,
///   `notAvailable`, `param`, `userCanceled`.
public struct TrashEmptyParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = CountResult
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.trashEmpty) }
    /// The number of the entry.
    ///
    /// That of a damaged entry may be below 1. Absent means: all entries of the group.
    public let number: Int64?
    /// The access group of the trash.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(number: Int64? = nil, group: String? = nil) {
        self.number = number
        self.group = group
    }
}

extension TrashEmptyParameters: WireObject {
    package static var neverNull: [String] { ["entry", "group"] }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.optionalInteger("entry")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("entry", number)
        object.append("group", group)
        return object
    }
}

/// The parameters of `trash.list`.
///
/// Lists what is in the trash of a group, a page at a time, the oldest first.
///
/// - Throws: `decode`, `internal`, `io`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct TrashListParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = TrashPage
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.trashList) }
    /// The number of the entry after which the page begins.
    ///
    /// Absent means: from the beginning.
    public let after: Int64?
    /// The access group of the trash.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(after: Int64? = nil, group: String? = nil) {
        self.after = after
        self.group = group
    }
}

extension TrashListParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        after = try reader.optionalInteger("after")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 2)
        object.append("after", after)
        object.append("group", group)
        return object
    }
}

/// A page of the trash.
public struct TrashPage: Hashable, Sendable {
    /// The entries.
    public let items: [TrashedItem]
    /// The number of the last entry of the page, for the next page.
    ///
    /// It is absent after the last page.
    public let next: Int64?
    /// The numbers of the page's damaged entries, which can only be destroyed.
    public let damaged: [Int64]

    package init(items: [TrashedItem], next: Int64? = nil, damaged: [Int64]) {
        self.items = items
        self.next = next
        self.damaged = damaged
    }
}

extension TrashPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        items = try reader.values("items", of: TrashedItem.self)
        next = try reader.optionalInteger("next")
        damaged = try reader.integers("damaged")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("items", items)
        object.append("next", next)
        object.append("damaged", damaged)
        return object
    }
}

/// The parameters of `trash.restore`.
///
/// Takes an item out of the trash, with its protection, its dates and its former values.
///
/// - Throws: `authFailed`, `decode`, `diskFull`, `duplicateItem`, `interactionNotAllowed`, `internal`,
///   `io`, `itemNotFound`, `missingEntitlement`, `notAvailable`, `param`, `userCanceled`.
public struct TrashRestoreParameters: MethodParameters {
    /// What the method answers.
    public typealias Result = ItemInfo
    /// How it and its parameters travel.
    public static var coding: MethodCoding<Self> { MethodCoding(.trashRestore) }
    /// The number of the entry.
    public let number: Int64
    /// The name that the item gets.
    ///
    /// Absent means: the name that it had.
    public let target: ItemName?
    /// The access group of the trash.
    ///
    /// Absent means: the caller's first group.
    public let group: String?

    /// Makes the parameters.
    public init(number: Int64, target: ItemName? = nil, group: String? = nil) {
        self.number = number
        self.target = target
        self.group = group
    }
}

extension TrashRestoreParameters: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        number = try reader.integer("entry")
        target = try reader.optionalName("to")
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject(capacity: 3)
        object.append("entry", number)
        object.append("to", target)
        object.append("group", group)
        return object
    }
}
