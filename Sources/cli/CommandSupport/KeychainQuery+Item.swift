package import CofferClient

extension KeychainQuery {
    /// A query for the one keychain item of a name.
    ///
    /// - Throws: `param` if it is a file.
    package init(of name: ItemName, in group: String?, _ client: BlockingClient) throws(CofferError) {
        let item = try client.call(ItemShowParameters(name: name, group: group)).value
        guard let query = KeychainQuery(for: item) else {
            throw CofferError(.param, "\(name.quoted) is a file, and files keep no former values")
        }
        self = query
    }

    /// A query for an item that was shown; `nil` if it is a file.
    package init?(for item: ItemInfo) {
        guard let itemClass = item.itemClass else { return nil }
        self.init(itemClass, identifiedBy: item.attributes ?? [:])
        attributes[.accessGroup] = .text(item.group)
    }

    /// A query for the item with these attributes, by its primary key: a reference is looked for in the caller's own
    /// groups only.
    package init(_ itemClass: ItemClass, identifiedBy known: [KeychainAttribute: AttributeValue]) {
        self.init(itemClass, known.filter { $0.key == .accessGroup || $0.key == .synchronizable })
        for attribute in KeychainAttribute.primaryKey(of: itemClass) {
            attributes[attribute] = known[attribute] ?? .empty(attribute.form)
        }
    }
}
