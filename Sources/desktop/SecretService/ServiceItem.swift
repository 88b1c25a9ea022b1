package import CofferClient

/// What the bus shows of an item.
package struct ServiceItem {
    package var label: String
    package var attributes: [String: String]
    /// The type of its secret's content, such as `text/plain`.
    var contentType: String
    /// When it can be read.
    var protection: Protection
    /// Milliseconds since 1970.
    var created: Int64
    /// Milliseconds since 1970.
    var modified: Int64

    package init(
        label: String,
        attributes: [String: String],
        contentType: String,
        protection: Protection,
        created: Int64,
        modified: Int64
    ) {
        (self.label, self.attributes, self.contentType) = (label, attributes, contentType)
        (self.protection, self.created, self.modified) = (protection, created, modified)
    }
}

/// What a client wants an item to be.
package struct NewItem {
    var label: String
    var attributes: [String: String]
    var contentType: String
    let secret: Secret
    /// When it was made in another service, in milliseconds since 1970; `nil` if it is made now.
    var created: Int64?

    package init(
        label: String,
        attributes: [String: String],
        contentType: String,
        secret: Secret,
        created: Int64? = nil
    ) {
        (self.label, self.attributes) = (label, attributes)
        (self.contentType, self.secret, self.created) = (contentType, secret, created)
    }

    /// The attribute by which a program says when an item shall be readable; others that begin so are Coffer's own.
    static let accessibilityAttribute = "coffer:accessible"

    /// Refuses attributes that mean something to Coffer.
    static func check(_ attributes: [String: String]) throws(CofferError) {
        for name in attributes.keys where name != accessibilityAttribute {
            guard ["coffer:", "coffer."].contains(where: name.hasPrefix) else { continue }
            throw CofferError(
                .param,
                "the attribute \(quotedForDisplay(name)) is Coffer's own",
                hint: "choose another name"
            )
        }
    }
}

extension Accessibility {
    /// What attributes wish for; `nil` if they do not say it.
    init?(wishedBy attributes: [String: String]) throws(CofferError) {
        guard let word = attributes[NewItem.accessibilityAttribute] else { return nil }
        guard let accessibility = Accessibility(rawValue: word) else {
            throw CofferError(
                .param,
                "the attribute '\(NewItem.accessibilityAttribute)' is no accessibility: \(quotedForDisplay(word))",
                hint: "'WhenUnlocked' and 'AfterFirstUnlock' are"
            )
        }
        self = accessibility
    }
}

/// Where the items of collections are kept.
protocol ItemStore: AnyObject {
    /// The items of a collection, which are passed one by one.
    func forEachItem(of collection: String, _ body: (ItemKey, ServiceItem) -> Void) throws(CofferError)

    /// What the bus shows of an item.
    ///
    /// - Throws: `itemNotFound`.
    func item(_ key: ItemKey) throws(CofferError) -> ServiceItem

    func secret(of key: ItemKey) throws(CofferError) -> Secret

    /// Stores an item under a name that no other one has.
    func add(_ item: NewItem, to collection: String) throws(CofferError) -> ItemKey

    /// Replaces an item as a whole.
    func replace(_ key: ItemKey, by item: NewItem) throws(CofferError)

    func setLabel(of key: ItemKey, to label: String) throws(CofferError)

    func setAttributes(of key: ItemKey, to attributes: [String: String]) throws(CofferError)

    func remove(_ key: ItemKey) throws(CofferError)
}
