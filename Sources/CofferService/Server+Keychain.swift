internal import CofferFiles
internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

// The keychain by its own verbs, after SecItem: add, find, update, delete.

extension Server {
    // MARK: Adding

    /// Adds an item.
    func addKeychainItem(
        _ params: KeychainAddParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Reply {
        let payload = attachments.takePayload()
        try attachments.refuseLeftovers(of: .keychainAdd)
        try NewItem.check(params.attributes, of: params.itemClass)
        var attributes = ItemAttributes(params.itemClass, in: try caller.group(params.group))
        attributes.values = params.attributes.filter { !NewItem.fields.contains($0.key) }
        attributes.isSynchronizable = params.attributes[.synchronizable] == .bool(true)
        attributes.user = params.user
        attributes.historyLimit = params.historyCount ?? Limits.defaultHistoryValues
        attributes.accessControl = params.accessControl
        let secret = try NewItem.secret(payload, params.generates, for: &attributes)
        do {
            let catalog = try vault.catalog
            let id = try catalog.change { changes in
                try checkName(attributes, in: catalog)
                let id = try catalog.keychain.add(
                    attributes,
                    secret: secret,
                    accessibility: params.accessibility ?? .whenUnlocked,
                    now: wallClockMilliseconds(),
                    with: caller.context
                )
                changes.note(ItemChange(.added, id, attributes))
                return id
            }
            var reply = try added(id, params, in: catalog, caller)
            reply.items = [AuditedItem(id, attributes)]
            return reply
        } catch {
            throw .init(mapping: error, "can't add \(attributes.quoted)")
        }
    }

    private func added(
        _ id: ItemID,
        _ params: KeychainAddParameters,
        in catalog: Catalog,
        _ caller: Caller
    ) throws -> Reply {
        let returns = params.returns
        let warnings = params.accessibility.warnings
        guard !returns.isEmpty, let item = try catalog.keychain.find(id) else {
            return Reply(KeychainAddResult(reference: id, item: nil, warnings: warnings))
        }
        guard returns.contains(.data), item.isExtractable else {
            return Reply(KeychainAddResult(reference: id, item: info(item, returns), warnings: warnings))
        }
        let secret = try catalog.keychain.secret(of: item, with: caller.context)
        let shown = info(item, returns, byteCount: secret.count)
        return Reply(
            KeychainAddResult(reference: id, item: shown, warnings: warnings),
            payload: secret,
            protection: .keychain(item.accessibility)
        )
    }

    /// One name is in one store at a time.
    private func checkName(_ attributes: ItemAttributes, in catalog: Catalog) throws {
        guard let name = attributes.name else { return }
        try checkNoDirectory(name, in: attributes.group, catalog)
        guard try catalog.files.find(name, in: attributes.group) != nil else { return }
        throw CofferError(
            .duplicateItem,
            "there is a file \(name.quoted) already",
            hint: "choose another name, or remove the file",
            operation: .write
        )
    }

    // MARK: Finding

    /// Looks for items and gives of them what was asked for.
    func findKeychainItems(_ params: KeychainFindParameters, from caller: Caller) throws(CofferError) -> Answer {
        let groups = try groups(for: params.query, of: caller)
        let search = try KeychainSearch(params, groups: groups, try vault.catalog.keychain, caller.context) {
            self.info($0, params.returns, byteCount: $1)
        }
        return try perform(search, for: caller)
    }

    /// How an item is shown.
    func info(_ item: KeychainItem, _ returns: Set<KeychainReturn>, byteCount: Int? = nil) -> KeychainItemInfo {
        let state = vault.openKeys?.state ?? .noVault
        let wantsAttributes = returns.contains(.attributes)
        return KeychainItemInfo(
            itemClass: item.attributes.itemClass,
            reference: item.id,
            attributes: wantsAttributes ? item.allValues : nil,
            user: wantsAttributes ? item.attributes.user : nil,
            byteCount: byteCount,
            accessControl: wantsAttributes ? item.attributes.accessControl : nil,
            isLocked: !item.accessibility.isAvailable(in: state),
            isExpired: item.isExpired
        )
    }

    /// The groups that a query looks in: those that the caller holds, or the one of them that it names.
    func groups(for query: KeychainQuery, of caller: Caller) throws(CofferError) -> [String] {
        guard case .text(let named) = query.attributes[.accessGroup] else { return caller.groups }
        return [try caller.group(named)]
    }

    /// Does something with every item that a query means, in whatever state the vault is.
    ///
    /// - Parameters:
    ///   - query: Which items.
    ///   - caller: Who asks.
    ///   - subject: What it is, for a sentence that begins with "can't".
    ///   - body: What is done, in one turn; there is one item at least.
    func withItems(
        of query: KeychainQuery,
        from caller: Caller,
        to subject: String,
        _ body: @escaping ([KeychainItem], Catalog) throws -> Reply
    ) throws(CofferError) -> Answer {
        guard query.itemClass != .identity else {
            throw CofferError(
                .param,
                "an identity is not stored: name the certificate or the key",
                hint: "'class' is 'certificate' or 'key'"
            )
        }
        let query = ItemQuery(query, groups: try groups(for: query, of: caller))
        let selection = KeychainSelection(query, subject) { items, catalog in
            var reply = try body(items, catalog)
            reply.items = items.map(AuditedItem.init)
            return reply
        }
        return try perform(selection, for: caller)
    }

    /// Does something with the one item that a query means.
    ///
    /// - Parameters:
    ///   - query: Which item.
    ///   - caller: Who asks.
    ///   - subject: What it is, for a sentence that begins with "can't".
    ///   - body: What is done.
    func withItem(
        of query: KeychainQuery,
        from caller: Caller,
        to subject: String,
        _ body: @escaping (KeychainItem, Catalog) throws -> Reply
    ) throws(CofferError) -> Answer {
        try withItems(of: query, from: caller, to: subject) { items, catalog in
            guard items.count == 1 else {
                throw CofferError(
                    .param,
                    "the query means \(items.count) items, and one is wanted",
                    hint: "name more attributes, or the persistent reference"
                )
            }
            return try body(items[0], catalog)
        }
    }

    // MARK: Changing

    /// Changes all items that a query means, or none.
    func updateKeychainItems(
        _ params: KeychainUpdateParameters,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Answer {
        let secret = attachments.takePayload()
        try attachments.refuseLeftovers(of: .keychainUpdate)
        guard secret != nil || !params.change.isEmpty else {
            throw CofferError(.param, "the update changes nothing", hint: "give 'set', or a new secret")
        }
        return try withItems(of: params.query, from: caller, to: "update the keychain") { items, catalog in
            try catalog.change { changes in
                for item in items {
                    let change = params.change
                    try NewItem.check(change.attributes, removing: change.removedAttributes, of: item)
                    if secret != nil { try NewItem.checkReplaceable(item) }
                    let attributes = try item.attributes.changed(by: params.change, caller)
                    if attributes.name != item.attributes.name { try self.checkName(attributes, in: catalog) }
                    try catalog.keychain.update(
                        item,
                        to: attributes,
                        secret: secret,
                        accessibility: params.change.accessibility ?? item.accessibility,
                        now: wallClockMilliseconds(),
                        with: caller.context
                    )
                    let isRenamed = attributes.name != item.attributes.name
                    changes.note(
                        ItemChange(
                            isRenamed ? .renamed : .changed,
                            item.id,
                            attributes,
                            formerName: isRenamed ? item.attributes.name : nil
                        )
                    )
                }
            }
            let warnings = params.change.accessibility.warnings
            return Reply(KeychainUpdateResult(count: Int64(items.count), warnings: warnings))
        }
    }

    /// Removes all items that a query means, in every state of the vault.
    func deleteKeychainItems(_ query: KeychainQuery, from caller: Caller) throws(CofferError) -> Answer {
        try withItems(of: query, from: caller, to: "delete from the keychain") { items, catalog in
            try catalog.change(isRemoval: true) { changes in
                for item in items {
                    try catalog.keychain.remove(item, with: caller.context)
                    changes.note(ItemChange(.removed, item))
                }
            }
            return Reply(CountResult(count: Int64(items.count)))
        }
    }
}

extension ItemQuery {
    /// What a client asks for, in the groups that it may look in.
    init(_ query: KeychainQuery, groups: [String]) {
        self.init(groups: groups)
        itemClass = query.itemClass
        exact = query.attributes
        user = query.user
        prefixes = query.prefix
        substrings = query.contains
        reference = query.reference
        expiringBefore = query.expiringBefore
    }
}

extension Accessibility? {
    /// What the caller ought to know of an accessibility that it has named.
    fileprivate var warnings: [String] { map { Protection.keychain($0).warnings(convertedFrom: nil) } ?? [] }
}

extension KeychainAddParameters {
    /// The group that the item is to belong to, if one is named.
    fileprivate var group: String? {
        if case .text(let group) = attributes[.accessGroup] { group } else { nil }
    }
}

extension ItemAttributes {
    fileprivate func changed(by change: KeychainChange, _ caller: Caller) throws(CofferError) -> ItemAttributes {
        var changed = self
        for attribute in change.removedAttributes { changed.values[attribute] = nil }
        for (attribute, value) in change.attributes where !NewItem.fields.contains(attribute) {
            changed.values[attribute] = value
        }
        if case .text(let group) = change.attributes[.accessGroup] { changed.group = try caller.group(group) }
        if case .bool(let flag) = change.attributes[.synchronizable] { changed.isSynchronizable = flag }
        for name in change.removedUser { changed.user[name] = nil }
        changed.user.merge(change.user) { _, new in new }
        changed.historyLimit = change.historyCount ?? historyLimit
        if change.removesAccessControl { changed.accessControl = nil }
        changed.accessControl = change.accessControl ?? changed.accessControl
        return changed
    }
}
