internal import CofferClient

/// The items of the vault: a collection is an access group, an item has a name in it.
final class VaultItems: ItemStore {
    private let connection: DaemonConnection

    init(_ connection: DaemonConnection) { self.connection = connection }

    /// The access group of a collection.
    static func group(of collection: String) -> String {
        collection == Collection.program ? AccessGroup.ownProgram : groupPrefix + collection
    }

    /// The collection whose items are in an access group; `nil` if the group is no collection's.
    static func collection(of group: String) -> String? {
        if group.hasPrefix(AccessGroup.ownProgram) { return Collection.program }
        return group.hasPrefix(groupPrefix) ? String(group.dropFirst(groupPrefix.count)) : nil
    }

    private static let groupPrefix = "collection:"
    /// The user-defined attribute that has the type of the content, which is none of the item's attributes.
    private static let contentType: AttributeName = "coffer:content-type"
    /// The user-defined attribute with the seconds since 1970 at which another service made the item, which is none of the
    /// item's attributes.
    private static let created: AttributeName = "coffer:created"
    static let usualContentType = "text/plain"

    // MARK: Reading

    func forEachItem(of collection: String, _ body: (ItemKey, ServiceItem) -> Void) throws(CofferError) {
        let group = Self.group(of: collection)
        let query = KeychainQuery(.genericPassword, [.accessGroup: .text(group)])
        try connection.forEachFound(query) { (found) throws(CofferError) in
            guard let item = ServiceItem(found), let name = Self.name(of: found) else { return }
            body(ItemKey(collection: collection, name: name), item)
        }
        var after: String?
        repeat {
            let page = try connection.call(ItemListParameters(store: .file, after: after, group: group)).value
            for listed in page.items {
                let key = ItemKey(collection: collection, name: listed.name)
                // Another client may have removed it since.
                let found = try connection.unlessMissing { () throws(CofferError) in try item(key) }
                if let found { body(key, found) }
            }
            after = page.next
        } while after != nil
    }

    func item(_ key: ItemKey) throws(CofferError) -> ServiceItem {
        let (name, group) = (try ItemName(key.name), Self.group(of: key.collection))
        return ServiceItem(try connection.call(ItemShowParameters(name: name, group: group)).value)
    }

    func secret(of key: ItemKey) throws(CofferError) -> Secret {
        try connection.contents(of: try ItemName(key.name), in: Self.group(of: key.collection))
    }

    // MARK: Changing

    func add(_ item: NewItem, to collection: String) throws(CofferError) -> ItemKey {
        var name = Self.name(for: item.label)
        while true {
            let key = ItemKey(collection: collection, name: name)
            do throws(CofferError) {
                try put(item, as: key, replacing: nil)
                return key
            } catch {
                guard error.code == .duplicateItem else { throw error }
                name = "\(Self.name(for: item.label)) \(String(UInt32.random(in: .min ... .max), radix: 36))"
            }
        }
    }

    func replace(_ key: ItemKey, by item: NewItem) throws(CofferError) {
        try put(item, as: key, replacing: try self.item(key))
    }

    /// Stores an item in one transaction.
    ///
    /// - Parameter former: The item that it replaces, which has the same attributes, and whose protection it keeps unless it
    ///   wishes for another one.
    private func put(_ item: NewItem, as key: ItemKey, replacing former: ServiceItem?) throws(CofferError) {
        try NewItem.check(item.attributes)
        let wish = try Accessibility(wishedBy: item.attributes)
        let accessibility = wish ?? former?.accessibility ?? .whenUnlocked
        // A file stays one: its former contents may be larger than the keychain takes.
        let isFile = item.secret.count > Limits.secretBytes || former?.protection.store == .file
        var wishes = PlacementOptions(
            kind: .password,
            store: isFile ? .file : .keychain,
            group: Self.group(of: key.collection)
        )
        if !isFile {
            wishes.accessibility = accessibility
        } else if wish == nil, case .file(let protectionClass) = former?.protection {
            wishes.protectionClass = protectionClass
        } else {
            wishes.protectionClass = ProtectionClass(matching: accessibility) ?? .complete
        }
        var user = Self.user(item.attributes, item.contentType, item.created)
        // What a put does not name stays as it is.
        if former != nil { user[Self.contentType] = item.contentType }
        let params = ItemPutParameters(
            name: try ItemName(key.name),
            wishes: wishes,
            attributes: [.label: .text(item.label)],
            user: user,
            isIfAbsent: former == nil
        )
        try connection.put(params, item.secret)
    }

    func setLabel(of key: ItemKey, to label: String) throws(CofferError) {
        if try item(key).protection.store == .file {
            try setExtendedAttribute("user.coffer.label", of: key, to: label)
        } else {
            try update(key, KeychainChange(attributes: [.label: .text(label)]))
        }
    }

    func setAttributes(of key: ItemKey, to attributes: [String: String]) throws(CofferError) {
        try NewItem.check(attributes)
        let former = try item(key)
        try protect(key, former, asWishedBy: attributes)
        try setUser(of: key, former, to: Self.user(attributes, former.contentType))
    }

    /// Changes when an item is readable, if its attributes wish for something else than before.
    private func protect(
        _ key: ItemKey,
        _ former: ServiceItem,
        asWishedBy attributes: [String: String]
    ) throws(CofferError) {
        let wish = try Accessibility(wishedBy: attributes)
        if wish?.rawValue == former.attributes[NewItem.accessibilityAttribute] { return }
        let accessibility = wish ?? .whenUnlocked
        let isFile = former.protection.store == .file
        let params = ItemProtectParameters(
            name: try ItemName(key.name),
            protectionClass: isFile ? ProtectionClass(matching: accessibility) ?? .complete : nil,
            accessibility: isFile ? nil : accessibility,
            group: Self.group(of: key.collection)
        )
        try connection.call(params)
    }

    /// Sets the attributes of an item, and the type of its content.
    private func setUser(
        of key: ItemKey,
        _ item: ServiceItem,
        to user: [AttributeName: String]
    ) throws(CofferError) {
        let former = Self.user(item.attributes, item.contentType)
        if user == former { return }
        let gone = former.keys.filter { user[$0] == nil }
        if item.protection.store == .file {
            for name in gone { try setExtendedAttribute("user.\(name.text)", of: key, to: nil) }
            for (name, value) in user where former[name] != value {
                try setExtendedAttribute("user.\(name.text)", of: key, to: value)
            }
        } else {
            try update(key, KeychainChange(user: user, removedUser: Set(gone)))
        }
    }

    func remove(_ key: ItemKey) throws(CofferError) {
        let params = ItemRemoveParameters(name: try ItemName(key.name), group: Self.group(of: key.collection))
        try connection.call(params)
    }

    private func update(_ key: ItemKey, _ change: KeychainChange) throws(CofferError) {
        let (service, account) = try ItemName(key.name).serviceAndAccount
        let place: [KeychainAttribute: AttributeValue] = [
            .accessGroup: .text(Self.group(of: key.collection)), .account: .text(account), .service: .text(service),
        ]
        try connection.call(KeychainUpdateParameters(KeychainQuery(.genericPassword, place), change))
    }

    private func setExtendedAttribute(_ attribute: String, of key: ItemKey, to value: String?) throws(CofferError) {
        let (name, group) = (try ItemName(key.name), Self.group(of: key.collection))
        if let value {
            let params = FileSetExtendedAttributeParameters(name: name, attribute: attribute, group: group)
            try connection.call(params, payload: try Secret(exposed: value))
        } else {
            try connection.call(FileRemoveExtendedAttributeParameters(name: name, attribute: attribute, group: group))
        }
    }

    // MARK: Names and attributes

    /// The name of an item with a label, by which a person finds it in the vault.
    private static func name(for label: String) -> String {
        var name = ""
        for character in label.unicodeScalars {
            if name.utf8.count > Limits.nameComponentBytes / 2 { break }
            let isPlain = character != "/" && character.value >= 32 && character.value != 127
            name.unicodeScalars.append(isPlain ? character : "-")
        }
        return ["", ".", ".."].contains(name) ? "secret" : name
    }

    /// The name that denotes an item; `nil` if none does.
    private static func name(of found: KeychainItemInfo) -> String? {
        guard case .text(let service) = found.attributes?[.service],
            case .text(let account) = found.attributes?[.account],
            let name = try? ItemName(service.isEmpty ? account : "\(service)/\(account)"),
            name.serviceAndAccount == (service, account)
        else { return nil }
        return name.path
    }

    private static func user(
        _ attributes: [String: String],
        _ type: String,
        _ date: Int64? = nil
    ) -> [AttributeName: String] {
        var user: [AttributeName: String] = [:]
        for (name, value) in attributes { user[AttributeName(name)] = value }
        if type != usualContentType { user[contentType] = type }
        if let date { user[created] = "\(date / 1000)" }
        return user
    }

    fileprivate static func split(_ user: [AttributeName: String]?) -> (attributes: [String: String], type: String) {
        var attributes: [String: String] = [:]
        for (name, value) in user ?? [:] where ![contentType, created].contains(name) { attributes[name.text] = value }
        return (attributes, user?[contentType] ?? usualContentType)
    }

    /// When another service made an item, in milliseconds since 1970.
    fileprivate static func created(_ user: [AttributeName: String]?) -> Int64? {
        user?[created].flatMap { Int64($0) }?.nearestProduct(1000)
    }
}

extension ServiceItem {
    /// The accessibility that it has; for a file that of items that can be read in the same states.
    fileprivate var accessibility: Accessibility? {
        switch protection {
        case .keychain(let accessibility): accessibility
        case .file(let protectionClass): Accessibility(matching: protectionClass)
        }
    }

    fileprivate init(_ item: ItemInfo) {
        var label = ""
        if case .text(let text) = item.attributes?[.label] { label = text }
        let (attributes, type) = VaultItems.split(item.user)
        self.init(
            label: label,
            attributes: attributes,
            contentType: type,
            protection: item.protection,
            created: VaultItems.created(item.user) ?? item.created,
            modified: item.modified
        )
    }

    /// - Returns: `nil` if the vault does not say when the item is accessible.
    fileprivate init?(_ item: KeychainItemInfo) {
        guard let found = item.attributes, case .text(let word) = found[.accessible],
            let accessibility = Accessibility(rawValue: word)
        else { return nil }
        var (label, created, modified) = ("", Int64(0), Int64(0))
        if case .text(let text) = found[.label] { label = text }
        if case .date(let date) = found[.creationDate] { created = date }
        if case .date(let date) = found[.modificationDate] { modified = date }
        let (attributes, type) = VaultItems.split(item.user)
        self.init(
            label: label,
            attributes: attributes,
            contentType: type,
            protection: .keychain(accessibility),
            created: VaultItems.created(item.user) ?? created,
            modified: modified
        )
    }
}
