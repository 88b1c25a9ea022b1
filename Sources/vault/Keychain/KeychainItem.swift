package import CofferCore
package import CofferMemory

/// The key of a generic password: its access group and its primary key.
package struct GenericPasswordKey: Hashable, Sendable {
    /// The access group.
    package let group: String
    /// The service of the password.
    package let service: String
    /// The account at the service.
    package let account: String

    package init(group: String, service: String, account: String) {
        self.group = group
        self.service = service
        self.account = account
    }

    /// The generic password that a name of the common namespace denotes.
    package init(_ name: ItemName, in group: String) {
        let (service, account) = name.serviceAndAccount
        self.init(group: group, service: service, account: account)
    }

    /// The name in the common namespace.
    package var path: String { service.isEmpty ? account : service + "/" + account }

    /// The name in quotes, for a sentence.
    var quoted: String { quotedForDisplay(path) }
}

/// The attributes of a keychain item that its owner decides.
package struct ItemAttributes: Hashable, Sendable {
    /// The class; never ``ItemClass/identity``, which is not stored.
    package var itemClass: ItemClass
    /// The access group.
    package var group: String
    /// Whether the item may be synchronised: part of every primary key.
    package var isSynchronizable = false
    /// The attributes of the class, except those that are fields here.
    package var values: AttributeValues
    /// User-defined attributes.
    package var user: [AttributeName: String] = [:]
    /// The kind that the owner stated, in the common namespace.
    package var kind: ItemKind?
    /// The rule by which the put that stored the item was decided, and what overrode it; "" for an item that was added.
    package var decision = ""
    /// The number of former values of the secret that are kept.
    package var historyLimit = Limits.defaultHistoryValues
    /// The authentication that is required before its secret is returned; `nil` for none.
    package var accessControl: AccessControl?

    /// The expiry date, in milliseconds since 1970.
    package var expiryDate: Int64? {
        if case .date(let date) = values[.expiryDate] { date } else { nil }
    }

    /// Describes an item.
    package init(_ itemClass: ItemClass, in group: String, _ values: AttributeValues = AttributeValues()) {
        self.itemClass = itemClass
        self.group = group
        self.values = values
    }

    /// Creates the attributes of a generic password of the common namespace.
    package init(_ key: GenericPasswordKey) {
        self.init(.genericPassword, in: key.group, [.service: .text(key.service), .account: .text(key.account)])
    }

    /// The attributes of a generic password of the common namespace that was stored before under another name, or in
    /// another group.
    init(_ key: GenericPasswordKey, as former: ItemAttributes?) {
        self = former ?? ItemAttributes(key)
        group = key.group
        values[.service] = .text(key.service)
        values[.account] = .text(key.account)
    }

    /// The name in the common namespace of both stores; `nil` for an item that has none there.
    package var name: ItemName? {
        guard itemClass == .genericPassword, !isSynchronizable else { return nil }
        let key = GenericPasswordKey(self)
        // An account with a slash would be read as a part of the service.
        if key.account.utf8.contains(UInt8(ascii: "/")) { return nil }
        return try? ItemName(key.path)
    }

    /// The name of an item that has no path; `nil` if only its reference names it.
    package var qualifiedName: QualifiedName? { name == nil ? QualifiedName(itemClass, text) : nil }

    /// The name under which an item is listed.
    ///
    /// - Parameter id: The item's reference, which names it if nothing else does.
    package func listedName(of id: ItemID) -> String {
        (name ?? (QualifiedName(itemClass, text) ?? .reference(id)).itemName)?.path ?? ""
    }

    /// The size of the stored attributes.
    package var byteCount: Int { ItemMetadata.byteCount(of: self) }

    /// Whether listings leave it out that do not name its class: an attribute of its class says so, or one of its user's.
    package var isInvisible: Bool {
        let attribute = KeychainAttribute.isInvisible
        return values[attribute] == .bool(true) || user[AttributeName(attribute.rawValue)] == "true"
    }

    /// The values of all attributes that are texts, user-defined ones included, and the address that some of them make up.
    package var texts: [String] {
        let own = values.all.compactMap { if case .text(let text) = $0 { text } else { nil } } + user.values
        return itemClass == .internetPassword ? own + [address] : own
    }

    /// The address of an internet password, without a user and without a port that its protocol implies.
    private var address: String {
        let scheme = text(.protocol)
        var address = scheme.isEmpty ? "" : "\(scheme)://"
        address += text(.server).split(separator: "@").last ?? ""
        let implied = NetworkAddress.defaultPort(of: scheme.isEmpty ? "https" : scheme)
        if case .integer(let port) = values[.port], port > 0, port != implied { address += ":\(port)" }
        let path = text(.path)
        return address + (path.isEmpty || path.hasPrefix("/") ? path : "/\(path)")
    }

    /// The text of an attribute; "" if it is missing.
    func text(_ attribute: KeychainAttribute) -> String {
        if case .text(let text) = values[attribute] { text } else { "" }
    }

    /// The name of the item in an error.
    package var quoted: String { title.map { quotedForDisplay($0) } ?? "a \(itemClass.word)" }

    /// A name for people: its path, its account at its server, or its label; `nil` if it has none of them.
    package var title: String? {
        switch itemClass {
        case .genericPassword: GenericPasswordKey(self).path
        case .internetPassword: "\(text(.account))@\(text(.server))"
        case .certificate, .key, .identity: text(.label).isEmpty ? nil : text(.label)
        }
    }
}

extension GenericPasswordKey {
    init(_ attributes: ItemAttributes) {
        self.init(
            group: attributes.group,
            service: attributes.text(.service),
            account: attributes.text(.account)
        )
    }
}

/// A keychain item without its secret.
package struct KeychainItem: Sendable {
    /// The number of its row, by which queries continue: it changes if the item is removed and added again.
    package let row: Int64
    /// The persistent reference, which survives updates and restarts.
    package let id: ItemID
    /// The attributes that the owner decides.
    package let attributes: ItemAttributes
    /// The states in which the secret is available.
    package let accessibility: Accessibility
    /// When it was added, in milliseconds since 1970.
    package let created: Int64
    /// When it was last changed, in milliseconds since 1970.
    package let modified: Int64
    /// The size of the secret.
    package let secretByteCount: Int
    /// Whether the vault has lost the device key that the secret needs: it can never be opened again.
    package let isLeftBehind: Bool
    /// How often the vault had lost its device key when the secret's key was wrapped.
    let moveCount: UInt32

    /// The key of a generic password in the common namespace.
    package var key: GenericPasswordKey { GenericPasswordKey(attributes) }

    /// The same item with other attributes.
    func with(_ attributes: ItemAttributes) -> KeychainItem { with(attributes, accessibility) }

    /// The item as it was when a former value was sealed: with the class of that value's row.
    func with(_ accessibility: Accessibility) -> KeychainItem { with(attributes, accessibility) }

    private func with(_ attributes: ItemAttributes, _ accessibility: Accessibility) -> KeychainItem {
        KeychainItem(
            row: row,
            id: id,
            attributes: attributes,
            accessibility: accessibility,
            created: created,
            modified: modified,
            secretByteCount: secretByteCount,
            isLeftBehind: isLeftBehind,
            moveCount: moveCount
        )
    }

    /// The name under which the item is listed.
    package var listedName: String { attributes.listedName(of: id) }

    /// The kind that the owner stated.
    package var kind: ItemKind? { attributes.kind }

    /// The expiry date, in milliseconds since 1970.
    package var expiryDate: Int64? { attributes.expiryDate }

    /// The value of an attribute, set by the owner or derived from the item.
    ///
    /// - Returns: `nil` if the item has none.
    package func value(of attribute: KeychainAttribute) -> AttributeValue? {
        switch attribute {
        case .accessGroup: .text(attributes.group)
        case .accessible: .text(accessibility.rawValue)
        case .synchronizable: .bool(attributes.isSynchronizable)
        case .creationDate: .date(created)
        case .modificationDate: .date(modified)
        default: attributes.values[attribute]
        }
    }
}

/// A keychain item with its secret.
package struct OpenedItem: ~Copyable {
    /// The item.
    package let item: KeychainItem
    package let secret: SecretBytes

    /// Takes the secret, without copying it.
    package consuming func takeSecret() -> SecretBytes { secret }
}

extension AuditedItem {
    package init(_ item: KeychainItem) { self.init(item.id, item.attributes) }

    package init(_ id: ItemID, _ attributes: ItemAttributes) {
        self.init(name: attributes.title, group: attributes.group, reference: id)
    }
}

extension ItemChange {
    package init(_ kind: Kind, _ item: KeychainItem) { self.init(kind, item.id, item.attributes) }

    package init(_ kind: Kind, _ id: ItemID, _ attributes: ItemAttributes, formerName: String? = nil) {
        self.init(
            kind,
            in: .keychain,
            group: attributes.group,
            name: attributes.listedName(of: id),
            formerName: formerName,
            itemClass: attributes.itemClass,
            reference: id
        )
    }
}
