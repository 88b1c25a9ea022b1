internal import CofferFiles
package import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferWire

// The keychain methods, after SecItem: add, find, update, delete.

extension Vault {
    // MARK: Adding

    package func keychainAdd(_ params: KeychainAddParameters, _ call: Call) throws(CofferError) -> Step {
        let caller = call.caller
        let payload = call.attachments.takePayload()
        try call.attachments.refuseLeftovers(of: .keychainAdd)
        try NewItem.check(params.attributes, of: params.itemClass)
        var attributes = ItemAttributes(params.itemClass, in: try caller.group(params.group))
        attributes.values = params.attributes.filter { !NewItem.fields.contains($0.key) }
        attributes.isSynchronizable = params.attributes[.synchronizable] == .bool(true)
        attributes.user = params.user
        attributes.historyLimit = params.historyCount ?? Limits.defaultHistoryValues
        attributes.accessControl = params.accessControl
        let secret = try NewItem.secret(payload, params.generates, for: &attributes)
        do {
            let catalog = try catalog
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
            return .done(reply)
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

    /// Refuses the name of a file or a directory: a name is in one store at a time.
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

    package func keychainFind(_ params: KeychainFindParameters, _ call: Call) throws(CofferError) -> Step {
        let caller = call.caller
        let groups = try groups(for: params.query, of: caller)
        let search = try KeychainSearch(params, groups: groups, try catalog.keychain, caller.context) {
            self.info($0, params.returns, byteCount: $1)
        }
        return try perform(search, call)
    }

    /// Describes an item for a client.
    func info(_ item: KeychainItem, _ returns: Set<KeychainReturn>, byteCount: Int? = nil) -> KeychainItemInfo {
        let state = openKeys?.state ?? .noVault
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

    /// The groups that a query searches: the caller's, or the one of them that it names.
    func groups(for query: KeychainQuery, of caller: Caller) throws(CofferError) -> [String] {
        guard case .text(let named) = query.attributes[.accessGroup] else { return caller.groups }
        return [try caller.group(named)]
    }

    /// Applies a function to all items that a query selects, in any state of the vault.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - call: The request.
    ///   - subject: The operation, for a sentence that begins with "can't".
    ///   - body: The function; it runs in one turn, and gets at least one item.
    func withItems(
        of query: KeychainQuery,
        _ call: Call,
        to subject: String,
        _ body: @escaping ([KeychainItem], Catalog) throws -> Reply
    ) throws(CofferError) -> Step {
        let caller = call.caller
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
        return try perform(selection, call)
    }

    /// Applies a function to the one item that a query selects.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - call: The request.
    ///   - subject: The operation, for a sentence that begins with "can't".
    ///   - body: The function.
    func withItem(
        of query: KeychainQuery,
        _ call: Call,
        to subject: String,
        _ body: @escaping (KeychainItem, Catalog) throws -> Reply
    ) throws(CofferError) -> Step {
        try withItems(of: query, call, to: subject) { items, catalog in
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

    package func keychainUpdate(_ params: KeychainUpdateParameters, _ call: Call) throws(CofferError) -> Step {
        let caller = call.caller
        let secret = call.attachments.takePayload()
        try call.attachments.refuseLeftovers(of: .keychainUpdate)
        guard secret != nil || !params.change.isEmpty else {
            throw CofferError(.param, "the update changes nothing", hint: "give 'set', or a new secret")
        }
        return try withItems(of: params.query, call, to: "update the keychain") { items, catalog in
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

    package func keychainDelete(_ params: KeychainDeleteParameters, _ call: Call) throws(CofferError) -> Step {
        let caller = call.caller
        return try withItems(of: params.query, call, to: "delete from the keychain") { items, catalog in
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
    /// The query of a client, restricted to the groups that it may search.
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
    /// The warnings about an accessibility that the caller has named.
    fileprivate var warnings: [String] { map { Protection.keychain($0).warnings(convertedFrom: nil) } ?? [] }
}

extension KeychainAddParameters {
    /// The group that the new item is to belong to, if the client names one.
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

extension AuditedItem {
    init(_ item: KeychainItem) { self.init(item.id, item.attributes) }

    init(_ id: ItemID, _ attributes: ItemAttributes) {
        self.init(name: attributes.title, group: attributes.group, reference: id)
    }
}
