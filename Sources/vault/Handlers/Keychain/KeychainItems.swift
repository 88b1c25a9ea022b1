internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire

// The keychain methods, after SecItem: add, find, update, delete.

extension KeychainHandlers {
    // MARK: Adding

    package func keychainAdd(_ params: KeychainAddParameters, _ call: Call) throws -> Step {
        let caller = call.caller
        let payload = call.attachments.takePayload()
        try NewItem.check(params.attributes, of: params.itemClass)
        var attributes = ItemAttributes(params.itemClass, in: try caller.group(params.attributes.group))
        attributes.values = AttributeValues(params.attributes.filter { !NewItem.fields.contains($0.key) })
        attributes.isSynchronizable = params.attributes[.synchronizable] == .bool(true)
        attributes.user = params.user
        attributes.historyLimit = params.historyCount ?? Limits.defaultHistoryValues
        attributes.accessControl = params.accessControl
        let secret = try NewItem.secret(payload, params.generates, for: &attributes)
        let described = attributes
        call.isFor("can't add \(described.quoted)")
        let catalog = try catalog
        let reply = try catalog.change { changes in
            try checkName(attributes, in: catalog)
            let item = try catalog.keychain.add(
                attributes,
                secret: secret,
                accessibility: params.accessibility ?? .whenUnlocked,
                now: wallClockMilliseconds(),
                with: caller.context
            )
            changes.note(ItemChange(.added, item))
            // An item whose data is wanted, and can't be read now, such as a deposit, is not added.
            var reply = try added(item, params, in: catalog, caller)
            reply.items = [AuditedItem(item)]
            return reply
        }
        return .done(reply)
    }

    private func added(
        _ item: KeychainItem,
        _ params: KeychainAddParameters,
        in catalog: Catalog,
        _ caller: Caller
    ) throws -> Reply {
        let returns = params.returns
        let warnings = params.accessibility.warnings
        if returns.isEmpty { return Reply(KeychainAddResult(reference: item.id, item: nil, warnings: warnings)) }
        let isGiven = returns.contains(.data) && item.isExtractable
        let secret = try catalog.keychain.secrets(of: isGiven ? [item] : [], with: caller.context)
        let byteCount = isGiven ? secret.byteCount : nil
        let shown = KeychainItemInfo(item, returns, byteCount: byteCount, in: catalog.keychain.state)
        return Reply(
            KeychainAddResult(reference: item.id, item: shown, warnings: warnings),
            payload: secret,
            protection: isGiven ? .keychain(item.accessibility) : nil
        )
    }

    /// Refuses a path that means another item, and the name of a file or a directory: a name is in one store at a time.
    private func checkName(_ attributes: ItemAttributes, in catalog: Catalog) throws {
        guard let name = attributes.name else { return }
        try name.checkIsPath()
        switch try catalog.files.occupant(of: name, in: attributes.group) {
        case nil: return
        case .madeDirectory: throw CofferError.isDirectory(name)
        case .symbolicLink: throw CofferError.isLink(name)
        case .file:
            throw CofferError(
                .duplicateItem,
                "there is a file \(name.quoted) already",
                hint: "choose another name, or remove the file",
                operation: .write
            )
        }
    }

    // MARK: Finding

    package func keychainFind(_ params: KeychainFindParameters, _ call: Call) throws -> Step {
        let caller = call.caller
        call.isFor("can't look into the keychain")
        let groups = try groups(for: params.query, of: caller)
        return try perform(try KeychainSearch(params, groups: groups, try catalog.keychain, caller.context), call)
    }

    /// The groups that a query searches: the caller's, or the one of them that it names.
    private func groups(for query: KeychainQuery, of caller: Caller) throws(CofferError) -> AccessGroups {
        guard let group = query.attributes.group else { return .only(caller.groups) }
        return [try caller.group(group)]
    }

    /// Applies a function to all items that a query selects, in any state of the vault.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - call: The request.
    ///   - operation: The operation, for a sentence that begins with "can't".
    ///   - access: Whether it reads or writes.
    ///   - body: The function; it runs in one turn, and gets at least one item.
    private func withItems(
        of query: KeychainQuery,
        _ call: Call,
        to operation: String,
        for access: ItemOperation = .write,
        _ body: @escaping ([KeychainItem], Catalog) throws -> Reply
    ) throws -> Step {
        call.isFor("can't \(operation)")
        if query.itemClass == .identity { throw CofferError.identityIsNotStored }
        let query = ItemQuery(query, groups: try groups(for: query, of: call.caller))
        let selection = KeychainSelection(query, for: access) { items, catalog in
            var reply = try body(items, catalog)
            reply.items = items.map(AuditedItem.init)
            return reply
        }
        return try perform(selection, call)
    }

    /// Applies a function to the one item that a query selects.
    ///
    /// - Parameters: As those of ``withItems(of:_:to:for:_:)``.
    func withItem(
        of query: KeychainQuery,
        _ call: Call,
        to operation: String,
        for access: ItemOperation = .write,
        _ body: @escaping (KeychainItem, Catalog) throws -> Reply
    ) throws -> Step {
        try withItems(of: query, call, to: operation, for: access) { items, catalog in
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

    package func keychainUpdate(_ params: KeychainUpdateParameters, _ call: Call) throws -> Step {
        let caller = call.caller
        let change = params.change
        let secret = try newSecret(params, call)
        guard secret != nil || !change.isEmpty else {
            throw CofferError(.param, "the update changes nothing", hint: "give 'set', or a new secret")
        }
        if change.isEmpty, let reply = try replaceSealed(params.query, secret, caller) { return .done(reply) }
        return try withItems(of: params.query, call, to: "update the keychain") { items, catalog in
            try catalog.change { changes in
                for item in items {
                    try NewItem.check(change.attributes, removing: change.removedAttributes, of: item)
                    if secret != nil { try NewItem.checkReplaceable(item) }
                    let group = try change.attributes.group.map { try caller.group($0) }
                    let attributes = item.attributes.changed(by: change, group: group)
                    if attributes.name != item.attributes.name { try self.checkName(attributes, in: catalog) }
                    try catalog.keychain.update(
                        item,
                        to: attributes,
                        secret: secret,
                        accessibility: change.accessibility ?? item.accessibility,
                        now: wallClockMilliseconds(),
                        with: caller.context
                    )
                    changes.note(item.change(to: attributes))
                }
            }
            let warnings = change.accessibility.warnings
            return Reply(KeychainUpdateResult(count: Int64(items.count), warnings: warnings))
        }
    }

    /// The new secret of an update; `nil` if the secret stays.
    private func newSecret(_ params: KeychainUpdateParameters, _ call: Call) throws(CofferError) -> SecretBytes? {
        let payload = call.attachments.takePayload()
        guard params.isSecretEmpty else { return payload }
        guard payload == nil else {
            throw CofferError(.param, "'emptySecret' is true, and there is a payload", hint: "leave one of them out")
        }
        return try payload.orEmpty()
    }

    /// Replaces the secrets of deposits before the first unlock.
    ///
    /// - Returns: `nil` unless the query means such deposits only.
    private func replaceSealed(
        _ query: KeychainQuery,
        _ secret: borrowing SecretBytes?,
        _ caller: Caller
    ) throws -> Reply? {
        guard query.itemClass == .genericPassword || query.itemClass == .internetPassword else { return nil }
        let query = ItemQuery(query, groups: try groups(for: query, of: caller))
        let rows = try catalog.keychain.sealedDeposits(query)
        if rows.isEmpty { return nil }
        switch secret {
        case .some(let secret): return try replaceSealed(rows, of: query, by: secret)
        case .none: return nil
        }
    }

    private func replaceSealed(
        _ rows: [Int64],
        of query: ItemQuery,
        by secret: borrowing SecretBytes
    ) throws -> Reply {
        let catalog = try catalog
        return try catalog.change { changes in
            let now = wallClockMilliseconds()
            var items: [AuditedItem] = []
            for row in rows {
                let replaced = try catalog.keychain.replace(sealedDeposit: row, of: query, by: secret, now: now)
                guard let replaced else { continue }
                // Its name is not known.
                changes.noteUntold(1)
                items.append(AuditedItem(replaced.id, replaced.attributes))
            }
            var reply = Reply(KeychainUpdateResult(count: Int64(items.count), warnings: []))
            reply.items = items
            return reply
        }
    }

    package func keychainDelete(_ params: KeychainDeleteParameters, _ call: Call) throws -> Step {
        try withItems(of: params.query, call, to: "delete from the keychain") { items, catalog in
            try catalog.change(isRemoval: true) { changes in
                for item in items {
                    try catalog.keychain.remove(item, with: call.caller.context)
                    changes.note(ItemChange(.removed, item))
                }
            }
            return Reply(CountResult(count: Int64(items.count)))
        }
    }
}

extension CofferError {
    /// A private key that can be used, and not read.
    static func staysInside(_ item: KeychainItem) -> CofferError {
        CofferError(
            .missingEntitlement,
            "\(item.attributes.quoted) is a key that stays inside: it can be used, and not read",
            hint: "'coffer keychain sign', 'agree' and 'public-key' use it"
        )
    }
}

extension KeychainItemInfo {
    /// Describes an item; the size of its secret is told if the payload has it.
    init(_ item: KeychainItem, _ returns: Set<KeychainReturn>, byteCount: Int?, in state: VaultState) {
        let wantsAttributes = returns.contains(.attributes)
        self.init(
            itemClass: item.attributes.itemClass,
            reference: item.id,
            attributes: wantsAttributes ? item.allValues : nil,
            user: wantsAttributes ? item.attributes.user : nil,
            byteCount: byteCount,
            accessControl: wantsAttributes ? item.attributes.accessControl : nil,
            isLocked: !item.accessibility.isAvailable(in: state),
            isExpired: item.isExpired,
            isLeftBehind: item.isLeftBehind
        )
    }
}

extension Accessibility? {
    /// The warnings about an accessibility that the caller has named.
    fileprivate var warnings: [String] { map { Protection.keychain($0).warnings(convertedFrom: nil) } ?? [] }
}

extension [KeychainAttribute: AttributeValue] {
    /// The access group that a client names; `nil` if it names none.
    fileprivate var group: String? {
        if case .text(let group) = self[.accessGroup] { group } else { nil }
    }
}
