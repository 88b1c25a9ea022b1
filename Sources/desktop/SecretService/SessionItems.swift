package import CofferClient
internal import CofferSystem

/// The items of the collection `session`, which are kept in memory, and end with this process or with the session.
package final class SessionItems: ItemStore {
    private var items: [ItemKey: (shown: ServiceItem, secret: Secret)] = [:]
    private var lastNumber = 0
    private var byteCount = 0

    package init() {}

    func forEachItem(of collection: String, _ body: (ItemKey, ServiceItem) -> Void) {
        for (key, item) in items { body(key, item.shown) }
    }

    package func item(_ key: ItemKey) throws(CofferError) -> ServiceItem { try found(key).shown }

    package func secret(of key: ItemKey) throws(CofferError) -> Secret { try found(key).secret }

    package func add(_ item: NewItem, to collection: String) throws(CofferError) -> ItemKey {
        guard items.count < Limits.sessionItems else { throw Self.isFull }
        lastNumber += 1
        let key = ItemKey(collection: collection, name: "\(lastNumber)")
        try set(key, to: item, createdAt: wallClockMilliseconds())
        return key
    }

    package func replace(_ key: ItemKey, by item: NewItem) throws(CofferError) {
        try set(key, to: item, createdAt: try found(key).shown.created)
    }

    private func set(_ key: ItemKey, to item: NewItem, createdAt created: Int64) throws(CofferError) {
        let shown = ServiceItem(
            label: item.label,
            attributes: item.attributes,
            contentType: item.contentType,
            protection: .keychain(.always),
            created: created,
            modified: wallClockMilliseconds()
        )
        try keep((shown, item.secret), as: key)
    }

    private func keep(_ item: (shown: ServiceItem, secret: Secret), as key: ItemKey) throws(CofferError) {
        let count = byteCount - (items[key].map(Self.byteCount) ?? 0) + Self.byteCount(of: item)
        guard count <= Limits.sessionItemBytes else { throw Self.isFull }
        byteCount = count
        items[key] = item
    }

    private static func byteCount(of item: (shown: ServiceItem, secret: Secret)) -> Int {
        let (shown, secret) = item
        let texts = shown.attributes.reduce(shown.label.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        return secret.count + texts + shown.contentType.utf8.count
    }

    func setLabel(of key: ItemKey, to label: String) throws(CofferError) {
        try keep(try changed(key) { $0.label = label }, as: key)
    }

    func setAttributes(of key: ItemKey, to attributes: [String: String]) throws(CofferError) {
        try keep(try changed(key) { $0.attributes = attributes }, as: key)
    }

    package func remove(_ key: ItemKey) throws(CofferError) {
        byteCount -= Self.byteCount(of: try found(key))
        items[key] = nil
    }

    private func changed(
        _ key: ItemKey,
        _ body: (inout ServiceItem) -> Void
    ) throws(CofferError) -> (shown: ServiceItem, secret: Secret) {
        var item = try found(key)
        body(&item.shown)
        item.shown.modified = wallClockMilliseconds()
        return item
    }

    private func found(_ key: ItemKey) throws(CofferError) -> (shown: ServiceItem, secret: Secret) {
        guard let item = items[key] else { throw CofferError(.itemNotFound, "there is no such item") }
        return item
    }

    private static let isFull = CofferError(
        .dataTooLarge,
        "the collection 'session' holds at most \(Limits.sessionItems) items of \(Limits.sessionItemBytes) bytes in all"
    )
}
