package import CofferCore

/// What a caller says about an item is part of the parameters of `item.put` and `item.explain`.
extension ItemWishes: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init()
        kind = try reader.value("kind", as: ItemKind.self)
        scenario = try reader.value("scenario", as: Scenario.self)
        protectionClass = try reader.value("protection", as: ProtectionClass.self)
        accessibility = try reader.value("accessible", as: Accessibility.self)
        store = try reader.value("store", as: StoreName.self)
        isStructured = try reader.optionalBool("structured") ?? false
        isPresentedAsFile = try reader.optionalBool("asFile") ?? false
        group = try reader.optionalString("group")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("kind", kind?.rawValue)
        object.set("scenario", scenario?.rawValue)
        object.set("protection", protectionClass?.rawValue)
        object.set("accessible", accessibility?.rawValue)
        object.set("store", store?.rawValue)
        if isStructured { object.set("structured", true) }
        if isPresentedAsFile { object.set("asFile", true) }
        object.set("group", group)
        return object
    }
}

/// The parameters of `item.put`, as they travel.
///
/// The content is the payload, and behind it what a passed descriptor gives.
package struct PutParameters: WireObject {
    /// The name.
    package let name: ItemName
    /// What the caller says about it.
    package let wishes: ItemWishes
    /// Whether notifications are wanted while it lasts.
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
        var object = wishes.json
        object.set("name", name.path)
        if wantsProgress { object.set("progress", true) }
        return object
    }
}

/// The parameters of `item.get`, as they travel.
///
/// A descriptor may be passed that takes the content of a file.
package struct GetParameters: WireObject {
    /// The name.
    package let name: ItemName
    /// Where to begin, in bytes.
    package let offset: Int64?
    /// How many bytes at most.
    package let length: Int64?
    /// Whether notifications are wanted while it lasts.
    package let wantsProgress: Bool

    package init(name: ItemName, offset: Int64? = nil, length: Int64? = nil, wantsProgress: Bool = false) {
        self.name = name
        self.offset = offset
        self.length = length
        self.wantsProgress = wantsProgress
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        name = try reader.name("name")
        offset = try reader.optionalInteger("offset", in: 0...Limits.fileBytes)
        length = try reader.optionalInteger("length", in: 0...Limits.fileBytes)
        wantsProgress = try reader.optionalBool("progress") ?? false
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("name", name.path)
        object.set("offset", offset)
        object.set("length", length)
        if wantsProgress { object.set("progress", true) }
        return object
    }
}

/// How the content came back.
package enum Delivery: String, CaseIterable, Sendable {
    /// As the payload of the reply.
    case payload
    /// Written to the descriptor that was passed.
    case descriptor
}

/// The result of `item.get`, as it travels.
package struct GetResult: WireObject {
    /// The store it was in.
    package let store: StoreName
    /// The bytes that were delivered.
    package let byteCount: Int64
    /// How.
    package let delivery: Delivery

    package init(store: StoreName, byteCount: Int64, delivery: Delivery) {
        self.store = store
        self.byteCount = byteCount
        self.delivery = delivery
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        store = try reader.required("store", as: StoreName.self)
        byteCount = try reader.integer("size")
        delivery = try reader.required("delivery", as: Delivery.self)
    }

    package var json: JSONObject {
        ["store": .string(store.rawValue), "size": .integer(byteCount), "delivery": .string(delivery.rawValue)]
    }
}

/// The parameters of `item.show` and `item.remove`, as they travel.
package struct NameParameters: WireObject {
    /// The name.
    package let name: ItemName

    package init(name: ItemName) { self.name = name }

    package init(reading reader: inout ParameterReader) throws(CofferError) { name = try reader.name("name") }

    package var json: JSONObject { ["name": .string(name.path)] }
}

/// The parameters of `item.list`, as they travel.
package struct ListParameters: WireObject {
    /// Names that begin with it only.
    package let prefix: String?
    /// Names that fit it only.
    package let pattern: NamePattern?
    /// Items of that store only.
    package let store: StoreName?
    /// The `next` of the page before.
    package let after: String?
    /// The most items.
    package let limit: Int64?
    /// Items with an expiry date before that time only, in milliseconds since 1970.
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
        pattern = try reader.optionalString("pattern").map { (text) throws(CofferError) in try NamePattern(text) }
        store = try reader.value("store", as: StoreName.self)
        after = try reader.optionalString("after")
        limit = try reader.optionalInteger("limit", in: 1...Int64(Limits.pageItems))
        expiringBefore = try reader.optionalInteger("expiringBefore")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("prefix", prefix)
        object.set("pattern", pattern?.text)
        object.set("store", store?.rawValue)
        object.set("after", after)
        object.set("limit", limit)
        object.set("expiringBefore", expiringBefore)
        return object
    }
}

extension Protection {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        switch try reader.required("store", as: StoreName.self) {
        case .keychain: self = .keychain(try reader.required("accessible", as: Accessibility.self))
        case .file: self = .file(try reader.required("protection", as: ProtectionClass.self))
        }
    }

    func write(to object: inout JSONObject) {
        object.set("store", store.rawValue)
        switch self {
        case .keychain(let accessibility): object.set("accessible", accessibility.rawValue)
        case .file(let protectionClass): object.set("protection", protectionClass.rawValue)
        }
    }
}

extension ItemInfo: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            name: try reader.string("name"),
            protection: try Protection(reading: &reader),
            byteCount: try reader.integer("size"),
            kind: try reader.value("kind", as: ItemKind.self),
            created: try reader.integer("created"),
            modified: try reader.integer("modified"),
            isReadable: try reader.optionalBool("readable") ?? false,
            expiryDate: try reader.optionalInteger("expiryDate"),
            isExpired: try reader.optionalBool("isExpired") ?? false
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("name", name)
        protection.write(to: &object)
        object.set("size", byteCount)
        object.set("kind", kind?.rawValue)
        object.set("created", created)
        object.set("modified", modified)
        object.set("readable", isReadable)
        object.set("expiryDate", expiryDate)
        if isExpired { object.set("isExpired", true) }
        return object
    }
}

extension ItemPage: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            items: try reader.values("items", of: ItemInfo.self),
            next: try reader.optionalString("next"),
            damagedCount: Int(try reader.integer("damaged"))
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("items", .array(items.map { .object($0.json) }))
        object.set("next", next)
        object.set("damaged", damagedCount)
        return object
    }
}

extension Placement: WireObject {
    package init(reading reader: inout ParameterReader) throws(CofferError) {
        self.init(
            protection: try Protection(reading: &reader),
            rule: try reader.string("rule"),
            reason: try reader.string("reason"),
            protectionSource: try reader.string("protectionSource"),
            signature: try reader.optionalString("signature"),
            warnings: try reader.strings("warnings")
        )
    }

    package var json: JSONObject {
        var object = JSONObject()
        protection.write(to: &object)
        object.set("rule", rule)
        object.set("reason", reason)
        object.set("protectionSource", protectionSource)
        object.set("signature", signature)
        object.set("warnings", .array(warnings.map { .string($0) }))
        return object
    }
}

/// The parameters of the notification `progress`, as they travel.
package struct ProgressParameters: WireObject {
    /// The bytes that are done.
    package let done: Int64
    /// The bytes there are; `nil` where the end of a pipe is not in sight.
    package let total: Int64?
    /// The request that lasts; `nil` for one without an identifier.
    package let request: RequestID?

    package init(request: RequestID?, done: Int64, total: Int64?) {
        self.request = request
        self.done = done
        self.total = total
    }

    package init(reading reader: inout ParameterReader) throws(CofferError) {
        done = try reader.integer("done")
        total = try reader.optionalInteger("total")
        request = try reader.optionalID("id")
    }

    package var json: JSONObject {
        var object = JSONObject()
        object.set("done", done)
        object.set("total", total)
        if let request { object.set("id", request.json) }
        return object
    }
}
