package import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferVault
internal import CofferWire

extension ItemHandlers {
    /// Follows the expiry dates of items.
    ///
    /// Before the first unlock, names can't be read: what has expired by then is reported afterwards.
    ///
    /// - Parameters:
    ///   - isWanted: Whether a client is to be notified.
    ///   - time: Milliseconds since 1970.
    /// - Returns: The items that have expired since the last call, and the milliseconds until the next one does, if that
    ///   is known.
    package func followExpiry(
        isWanted: Bool,
        at time: @autoclosure () -> Int64
    ) -> (expired: [ItemChange], wait: Int64?) {
        guard isWanted, let catalog = openCatalog, let keys = openKeys else {
            shared.expiryWatch = nil
            return ([], nil)
        }
        let now = time()
        let watch =
            shared.expiryWatch.flatMap { $0.catalog === catalog ? $0 : nil } ?? ExpiryWatch(of: catalog, at: now)
        shared.expiryWatch = watch
        if watch.isDue(at: now), keys.state != .beforeFirstUnlock {
            let dates = watch.beginSearch(at: now)
            shared.chores.append(Chore(tenant: 0) { [self] call in try searchExpired(dates, for: watch, call) })
        }
        return (watch.takeExpired(), watch.wait(at: now))
    }

    private func searchExpired(_ dates: Range<Int64>, for watch: ExpiryWatch, _ call: Call) throws -> Step {
        let search = ExpirySearch(dates, openKeys)
        call.atEnd {
            if search.isComplete {
                watch.endSearch(at: dates.upperBound, search.expired, next: search.next)
            } else {
                watch.giveUp(until: dates.upperBound + Limits.expiryRetryMilliseconds)
            }
        }
        return try perform(search, call)
    }
}

/// The search for the items whose expiry dates are in a range, and for the first date behind it.
private final class ExpirySearch: SlicedWork {
    private let dates: Range<Int64>
    private weak var keys: VaultKeys?
    private var listing: ItemListing<StoredItem>?
    private var cursor: String?
    private(set) var expired: [ItemChange] = []
    private(set) var next = Int64.max
    private(set) var isComplete = false
    private(set) var doneCount = 0

    init(_ dates: Range<Int64>, _ keys: VaultKeys?) {
        self.dates = dates
        self.keys = keys
    }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        // What the daemon reads by itself is no use of the vault, which would put off a lock.
        let wasUsed = keys?.takeUse() ?? false
        defer {
            _ = keys?.takeUse()
            if wasUsed { keys?.noteUse() }
        }
        let page = try listing ?? makeListing()
        listing = page
        guard try page.slice(catalog, until: isEnough) != nil else { return nil }
        doneCount += page.doneCount
        listing = nil
        isComplete = cursor == nil
        return isComplete ? Reply(Empty()) : nil
    }

    private func makeListing() throws(CofferError) -> ItemListing<StoredItem> {
        try ItemListing(
            ItemListParameters(after: cursor, expiringBefore: .max, isOfAllGroups: true),
            in: .all,
            describe: { item, _ in item },
            page: { [unowned self] items, cursor, _ in
                for item in items { take(item) }
                self.cursor = cursor
                return Reply(Empty())
            }
        )
    }

    private func take(_ item: StoredItem) {
        guard let date = item.expiryDate else { return }
        if dates.contains(date) { expired.append(item.change(.expired)) }
        if date >= dates.upperBound { next = min(next, date) }
    }
}

extension StoredItem {
    fileprivate var expiryDate: Int64? {
        switch self {
        case .keychain(let item): item.expiryDate
        case .file(let file): file.expiryDate
        }
    }
}
