internal import CofferCore
internal import CofferWire

/// Picks the first names behind a given one out of items that come in no order, and holds no more of them than a page.
struct PageBuilder {
    private let params: ListParameters
    private let group: String
    private let state: VaultState
    private let limit: Int
    /// Sorted by the names' bytes; one more than the page, to know whether there is another.
    private var items: [ItemInfo] = []
    private var damagedCount = 0

    init(_ params: ListParameters, in group: String, state: VaultState) {
        self.params = params
        self.group = group
        self.state = state
        limit = Int(params.limit ?? Int64(Limits.pageItems))
    }

    mutating func add(_ outcome: Result<(group: String, item: StoredItem), CofferError>) {
        guard case .success(let found) = outcome else {
            damagedCount += 1
            return
        }
        guard found.group.utf8.elementsEqual(group.utf8) else { return }
        switch found.item {
        case .keychain(let item): add(ItemInfo(item, in: state))
        case .file(let file): add(ItemInfo(file, in: state))
        }
    }

    private mutating func add(_ info: ItemInfo) {
        if let time = params.expiringBefore {
            guard let date = info.expiryDate, date < time else { return }
        }
        if let prefix = params.prefix, !info.name.utf8.starts(with: prefix.utf8) { return }
        if let after = params.after, !after.precedes(info.name) { return }
        if items.count > limit, let last = items.last, !info.name.precedes(last.name) { return }
        var low = 0
        var high = items.count
        while low < high {
            let middle = (low + high) / 2
            if items[middle].name.precedes(info.name) { low = middle + 1 } else { high = middle }
        }
        items.insert(info, at: low)
        if items.count > limit + 1 { items.removeLast() }
    }

    func finish() -> ItemPage {
        var page: [ItemInfo] = []
        var byteCount = 0
        for item in items.prefix(limit) {
            byteCount += item.greatestJSONByteCount
            if byteCount > Limits.pageJSONBytes && !page.isEmpty { break }
            page.append(item)
        }
        return ItemPage(
            items: page,
            next: items.count > page.count ? page.last?.name : nil,
            damagedCount: damagedCount
        )
    }
}

extension ItemInfo {
    /// The most bytes that the item's JSON can have: a byte of a name may become six.
    fileprivate var greatestJSONByteCount: Int { 512 + name.utf8.count * 6 }
}

extension String {
    /// The order of the names' bytes: the same in every language and for every client.
    func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
