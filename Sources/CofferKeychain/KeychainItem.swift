package import CofferCore
package import CofferMemory

/// What identifies a generic password: its access group and its primary key.
package struct GenericPasswordKey: Hashable, Sendable {
    /// The set of items that one client, or several that share it, may reach.
    package let group: String
    /// What the password is for.
    package let service: String
    /// Whose it is.
    package let account: String

    package init(group: String, service: String, account: String) {
        self.group = group
        self.service = service
        self.account = account
    }

    /// The generic password that a name of the one namespace stands for.
    package init(_ name: ItemName, in group: String) {
        self.init(group: group, service: name.service, account: name.account)
    }

    /// The name in the one namespace.
    package var path: String { service.isEmpty ? account : "\(service)/\(account)" }

    /// The name in quotes, for a sentence.
    var quoted: String { quotedForDisplay(path) }
}

/// What a keychain item says of itself, as far as its owner decides it.
package struct ItemAttributes: Hashable, Sendable {
    /// The class; never ``ItemClass/identity``, which is not stored.
    package var itemClass: ItemClass
    /// The access group.
    package var group: String
    /// Whether the item may be synchronised: part of every primary key.
    package var isSynchronizable = false
    /// The attributes of the class, without those that the fields here stand for.
    package var values: [KeychainAttribute: AttributeValue]
    /// Attributes that the owner has named.
    package var user: [String: String] = [:]
    /// What the owner said it is, in the one namespace.
    package var kind: ItemKind?
    /// How many earlier values of the secret are kept.
    package var historyLimit = Limits.defaultHistoryValues
    /// What has to be shown before its secret is given out; nothing if there is none.
    package var accessControl: AccessControl?

    /// Describes an item.
    package init(_ itemClass: ItemClass, in group: String, _ values: [KeychainAttribute: AttributeValue] = [:]) {
        self.itemClass = itemClass
        self.group = group
        self.values = values
    }

    /// Describes a generic password of the one namespace.
    package init(_ key: GenericPasswordKey) {
        self.init(.genericPassword, in: key.group, [.service: .text(key.service), .account: .text(key.account)])
    }

    /// The name in the one namespace of both stores; `nil` for an item that has none there.
    package var name: ItemName? {
        guard itemClass == .genericPassword, !isSynchronizable else { return nil }
        let key = GenericPasswordKey(self)
        guard let name = try? ItemName(key.path), GenericPasswordKey(name, in: group) == key else { return nil }
        return name
    }

    /// How many bytes are stored for it.
    package var byteCount: Int { ItemMetadata.byteCount(of: self) }

    /// The text of an attribute; "" where it is missing.
    func text(_ attribute: KeychainAttribute) -> String {
        if case .text(let text) = values[attribute] { text } else { "" }
    }

    /// What the item is called in an error.
    package var quoted: String { title.map { quotedForDisplay($0) } ?? "a \(itemClass.rawValue)" }

    /// What a person calls it: its name, its account at its server, or its label; `nil` where it has none of them.
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
    /// The place of its row, by which queries go on: another one after the item was removed and added again.
    package let row: Int64
    /// Survives update and restart: the persistent reference.
    package let id: ItemID
    /// What the owner says of it.
    package let attributes: ItemAttributes
    /// In which states the secret is there.
    package let accessibility: Accessibility
    /// When it was added, in milliseconds since 1970.
    package let created: Int64
    /// When it was last changed, in milliseconds since 1970.
    package let modified: Int64
    /// The bytes of the secret.
    package let secretByteCount: Int

    /// What identifies a generic password in the one namespace.
    package var key: GenericPasswordKey { GenericPasswordKey(attributes) }

    /// The same item with other attributes.
    func with(_ attributes: ItemAttributes) -> KeychainItem {
        KeychainItem(
            row: row,
            id: id,
            attributes: attributes,
            accessibility: accessibility,
            created: created,
            modified: modified,
            secretByteCount: secretByteCount
        )
    }

    /// The item as a former value of it was sealed: under the class that its row has.
    func with(_ accessibility: Accessibility) -> KeychainItem {
        KeychainItem(
            row: row,
            id: id,
            attributes: attributes,
            accessibility: accessibility,
            created: created,
            modified: modified,
            secretByteCount: secretByteCount
        )
    }

    /// What the owner said it is.
    package var kind: ItemKind? { attributes.kind }

    /// The value of an attribute, be it one that the owner gave or one that the item has of itself.
    ///
    /// - Returns: `nil` where the item has none.
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
    /// Its secret.
    package let secret: SecretBytes

    /// Takes the secret out.
    package consuming func takeSecret() -> SecretBytes { secret }
}
