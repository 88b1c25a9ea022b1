internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

/// The vault of the user.
struct VaultTarget: RestoreTarget {
    private let vault: BlockingClient
    private let isDry: Bool

    init(_ vault: BlockingClient?, isDry: Bool) throws(CofferError) {
        guard let vault else { throw CofferError(.internal, "there is no vault to restore into") }
        self.vault = vault
        self.isDry = isDry
    }

    func restore(_ item: ItemInfo, from client: BlockingClient) throws(CofferError) -> RestoreOutcome {
        let name = try ItemName(item.name)
        let shown = try client.call(ItemShowParameters(name: name, group: item.group)).value
        let values = try ValueSequence(of: shown, client)
        var presentCount = 0
        if let existing = try find(name, item.group) {
            if try isSame(item, existing, name, client) { return .same }
            presentCount = try values.presentCount(in: existing, vault)
            guard presentCount > 0 else {
                throw CofferError(.duplicateItem, "the vault has another one of that name")
            }
        }
        if isDry { return .restored(lostValueCount: values.isChangeable ? 0 : values.formerCount) }
        if presentCount == 0 { try add(shown, name, values, from: client) }
        guard values.isChangeable else { return .restored(lostValueCount: values.formerCount) }
        try values.append(from: max(1, presentCount), to: vault)
        return .restored(lostValueCount: 0)
    }

    private func find(_ name: ItemName, _ group: String) throws(CofferError) -> ItemInfo? {
        do throws(CofferError) { return try vault.call(ItemShowParameters(name: name, group: group)).value } catch {
            guard error.code == .itemNotFound else { throw error }
            return nil
        }
    }

    /// Whether two items have the same content.
    private func isSame(
        _ one: ItemInfo,
        _ other: ItemInfo,
        _ name: ItemName,
        _ client: BlockingClient
    ) throws(CofferError) -> Bool {
        guard one.byteCount == other.byteCount else { return false }
        guard one.protection.store == .file else {
            let params = ItemGetParameters(name: name, group: one.group)
            return try client.call(params).payload.isEqual(to: vault.call(params).payload)
        }
        let length = Int64(Limits.framePayloadBytes)
        var offset: Int64 = 0
        repeat {
            let params = ItemGetParameters(name: name, offset: offset, length: length, group: one.group)
            guard try client.call(params).payload.isEqual(to: vault.call(params).payload) else { return false }
            offset += length
        } while offset < one.byteCount
        return true
    }

    /// Adds an item with the first of its values.
    private func add(
        _ info: ItemInfo,
        _ name: ItemName,
        _ values: ValueSequence,
        from client: BlockingClient
    ) throws(CofferError) {
        guard info.itemClass == nil || info.itemClass == .genericPassword, info.accessControl == nil else {
            return try addToKeychain(info, try values.first())
        }
        let params = ItemPutParameters(
            name: name,
            wishes: PlacementOptions(like: info),
            attributes: info.attributesOfCopy,
            user: info.user ?? [:],
            isIfAbsent: true
        )
        if values.formerCount == 0 {
            _ = try client.copy(name, info, as: params, to: vault)
        } else {
            _ = try vault.call(params, payload: try values.first())
        }
    }

    private func addToKeychain(_ info: ItemInfo, _ content: Secret) throws(CofferError) {
        let derived: Set<KeychainAttribute> = [.accessible, .creationDate, .modificationDate]
        var accessibility: Accessibility?
        if case .keychain(let found) = info.protection { accessibility = found }
        try vault.call(
            KeychainAddParameters(
                info.itemClass ?? .genericPassword,
                (info.attributes ?? [:]).filter { !derived.contains($0.key) },
                user: info.user ?? [:],
                accessibility: accessibility,
                accessControl: info.accessControl
            ),
            payload: content
        )
    }
}

/// The values that a secret has had, the oldest first and the present one last.
private struct ValueSequence {
    /// How many there are besides the present one.
    let formerCount: Int
    /// Whether the vault changes such an item without an authentication, so that its values can be stored one by one.
    let isChangeable: Bool
    private let item: ItemInfo
    private let client: BlockingClient
    private let query: KeychainQuery?
    /// The numbers of the former ones, the oldest first.
    private let numbers: [Int64]

    /// Finds the values of an item; a file has its content alone.
    init(of item: ItemInfo, _ client: BlockingClient) throws(CofferError) {
        self.item = item
        self.client = client
        query = KeychainQuery(for: item)
        isChangeable = item.accessControl == nil
        let former = try query.map { (query) throws(CofferError) in
            try client.call(KeychainHistoryParameters(query)).value
        }
        guard former?.damaged.isEmpty ?? true else {
            throw .damaged(quotedForDisplay(item.name), found: "a former value of it can't be read")
        }
        numbers = former?.values.reversed().map { Int64($0.number) } ?? []
        formerCount = numbers.count
    }

    /// The value that the item is added with.
    func first() throws(CofferError) -> Secret { try value(isChangeable ? 0 : formerCount) }

    private func value(_ index: Int) throws(CofferError) -> Secret {
        guard index < formerCount, let query else {
            return try client.call(ItemGetParameters(name: ItemName(item.name), group: item.group)).payload
        }
        return try client.call(KeychainHistoryParameters(query, number: numbers[index], returns: [.data])).payload
    }

    /// How many of the values an item of the vault has, if it has the first of them and no other: an interrupted restore
    /// left it so.
    func presentCount(in existing: ItemInfo, _ vault: BlockingClient) throws(CofferError) -> Int {
        guard isChangeable, formerCount > 0, existing.accessControl == nil, existing.itemClass == item.itemClass else {
            return 0
        }
        let present = try ValueSequence(of: existing, vault)
        guard present.formerCount < formerCount else { return 0 }
        for index in 0...present.formerCount {
            guard try value(index).isEqual(to: present.value(index)) else { return 0 }
        }
        return present.formerCount + 1
    }

    /// Stores the values from one on, each as the successor of the one before it.
    func append(from index: Int, to vault: BlockingClient) throws(CofferError) {
        guard formerCount > 0, let query else { return }
        var change = KeychainChange()
        if formerCount > Limits.defaultHistoryValues { change.historyCount = formerCount }
        for index in index...formerCount {
            let next = try value(index)
            let isEmpty = next.count == 0
            _ = try vault.call(
                KeychainUpdateParameters(query, change, isSecretEmpty: isEmpty),
                payload: isEmpty ? nil : next
            )
        }
    }
}
