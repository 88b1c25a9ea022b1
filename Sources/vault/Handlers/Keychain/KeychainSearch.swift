internal import CofferCore
internal import CofferKeychain
internal import CofferMemory
internal import CofferVault
internal import CofferWire

/// One page of a query of the keychain.
///
/// A page is limited in the rows that are scanned and the bytes of its answer. The client continues with the cursor.
final class KeychainSearch: SlicedWork {
    private struct Page {
        var items: [KeychainItemInfo] = []
        /// The items on the page.
        var given: [KeychainItem] = []
        /// The items whose secrets are in the payload.
        var opened: [KeychainItem] = []
        var lockedCount = 0
        var unauthenticatedCount = 0
        var leftBehindCount = 0
        var damagedCount = 0
        var sealedCount = 0
        var jsonBytes = 0
        var payloadBytes = 0
        /// Why a matching item is not returned.
        var refusal: CofferError?
        /// The sealed secret of the first match, if it is the answer, and the number of its row.
        var first: (row: Int64, secret: SealedSecret)?

        /// Whether an item fits besides the others.
        func fits(_ size: Int, _ secretBytes: Int) -> Bool {
            jsonBytes + size <= Limits.pageJSONBytes && payloadBytes + secretBytes <= Limits.framePayloadBytes
        }

        /// Drops the items.
        mutating func empty() {
            (items, given, opened, lockedCount, jsonBytes, payloadBytes) = ([], [], [], 0, 0, 0)
        }
    }

    private let params: KeychainFindParameters
    private let query: ItemQuery
    /// The attributes that the private key of an identity must have.
    private let keyAttributes: AttributeValues
    private let keychain: KeychainStore
    private let context: AuthenticationContext
    private let wantsData: Bool

    private var place: Int64?
    private(set) var doneCount = 0
    private var damaged: CofferError?
    /// The items to sort: only their dates and ids are kept.
    private var unsorted: [(date: Int64, id: ItemID)] = []
    private var turnCount = 0
    private var page = Page()

    /// Begins a query.
    ///
    /// - Parameters:
    ///   - params: The client's query.
    ///   - groups: The groups that it may search.
    ///   - keychain: The store.
    ///   - context: The client's authentication.
    init(
        _ params: KeychainFindParameters,
        groups: AccessGroups,
        _ keychain: KeychainStore,
        _ context: AuthenticationContext
    ) throws(CofferError) {
        self.params = params
        wantsData = params.returns.contains(.data)
        self.keychain = keychain
        self.context = context
        var query = ItemQuery(params.query, groups: groups)
        keyAttributes = query.splitIdentity()
        self.query = query
        guard let cursor = params.cursor else { return }
        guard params.order == nil, let number = Int64(cursor) else {
            throw CofferError(.param, "parameter 'cursor': expected the 'cursor' of an earlier page of the same query")
        }
        place = number
    }

    private var limit: Int {
        if case .count(let count) = params.limit { count } else { .max }
    }

    /// Whether the first match is the answer, even if it can't be read: never the secret of another item.
    private var isForFirst: Bool { params.limit == .count(1) && params.cursor == nil }
    private var state: VaultState { keychain.state }

    package func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        turnCount += 1
        if let order = params.order {
            guard try collect(order, until: isEnough) else { return nil }
            try takeSorted(order)
        } else {
            guard try look(until: isEnough) else { return nil }
            if turnCount > 1 { try lookAgain() }
        }
        let unreadableCount = page.lockedCount + page.leftBehindCount
        if place == nil && (page.items.isEmpty || page.items.count == unreadableCount && params.cursor == nil) {
            if page.lockedCount + page.sealedCount > 0 {
                throw CofferError.locked("what was found", in: state, for: .read)
            }
            throw page.refusal ?? damaged ?? CofferError(.itemNotFound, "no keychain item matches")
        }
        let answer = KeychainPage(
            items: page.items,
            lockedCount: page.lockedCount,
            unauthenticatedCount: page.unauthenticatedCount,
            leftBehindCount: page.leftBehindCount,
            damagedCount: page.damagedCount,
            sealedCount: page.sealedCount,
            cursor: place.map { "\($0)" }
        )
        var reply = Reply(answer, payload: try secrets(), protection: strictest)
        for (info, item) in zip(page.items, page.given) where !(wantsData && (info.isLocked || info.isLeftBehind)) {
            reply.items.append(AuditedItem(item))
        }
        return reply
    }

    /// The secrets of the page.
    ///
    /// The row of the first match is not read again in the turn that has found it.
    private func secrets() throws -> SecretBytes? {
        if turnCount == 1, page.opened.count == 1, let first = page.first, first.row == page.opened[0].row {
            return try keychain.secret(of: page.opened[0], first.secret, with: context)
        }
        return try keychain.secrets(of: page.opened, with: context)
    }

    /// Scans some more rows.
    private func nextBatch() throws -> SearchPage {
        let looks = min(Limits.queryBatch, Limits.queryItems - doneCount)
        let keepsFirst = isForFirst && wantsData
        let batch = try keychain.index.search(query, after: place, lookingAt: looks, keepingFirst: keepsFirst)
        doneCount += batch.lookedAt
        if let secret = batch.firstSecret { page.first = (batch.items[0].row, secret) }
        damaged = damaged ?? batch.damaged.first
        return batch
    }

    /// Whether a row is not scanned again for the next page.
    private func isBehind(_ row: Int64) -> Bool { place.map { row <= $0 } ?? false }

    /// Adds items in the order in which they were stored.
    ///
    /// - Returns: Whether the page is complete.
    private func look(until isEnough: () -> Bool) throws -> Bool {
        repeat {
            let batch = try nextBatch()
            for item in batch.items {
                if isForFirst, let sealed = batch.sealedRows.first, sealed < item.row {
                    throw CofferError.locked("the first match", in: state, for: .read)
                }
                guard try page.items.count < limit && take(item) else {
                    // The rows after the position are scanned again for the next page.
                    page.damagedCount += batch.damagedRows.count(where: isBehind)
                    page.sealedCount += batch.sealedRows.count(where: isBehind)
                    return true
                }
                place = item.row
            }
            page.damagedCount += batch.damagedRows.count
            page.sealedCount += batch.sealedRows.count
            if isForFirst && page.sealedCount > 0 && page.items.isEmpty {
                throw CofferError.locked("the first match", in: state, for: .read)
            }
            place = batch.next
            if place == nil || doneCount == Limits.queryItems { return true }
        } while !isEnough()
        return false
    }

    /// Reads the items of the page again: other clients may have changed them in the turns between.
    private func lookAgain() throws {
        let earlier = page.given
        page.empty()
        for former in earlier {
            guard let item = try keychain.find(former.id), query.matches(item) else { continue }
            guard try take(item) else {
                place = page.given.last?.row
                return
            }
        }
    }

    /// Collects the items to sort, for which all matching rows must be scanned.
    ///
    /// - Returns: Whether all were scanned.
    private func collect(_ order: KeychainOrder, until isEnough: () -> Bool) throws -> Bool {
        repeat {
            let batch = try nextBatch()
            unsorted += batch.items.map { (order.date(of: $0), $0.id) }
            page.damagedCount += batch.damagedRows.count
            page.sealedCount += batch.sealedRows.count
            place = batch.next
            if place == nil { return true }
            guard doneCount < Limits.queryItems else {
                throw CofferError(
                    .dataTooLarge,
                    "the query looks at more than \(Limits.queryItems) items, and so many are not sorted",
                    hint: "name an attribute exactly, or leave 'sort' out"
                )
            }
        } while !isEnough()
        return false
    }

    /// Adds the collected items in the order of a date.
    private func takeSorted(_ order: KeychainOrder) throws {
        if isForFirst && page.sealedCount > 0 { throw CofferError.locked("the first match", in: state, for: .read) }
        // The sort is stable: items of the same date stay in the order in which they were stored.
        unsorted.sort { order.isDescending ? $0.date > $1.date : $0.date < $1.date }
        for entry in unsorted where page.items.count < limit {
            guard let item = try keychain.find(entry.id), query.matches(item) else { continue }
            guard try take(item) else {
                throw CofferError(
                    .dataTooLarge,
                    "what was found does not fit into one answer, and a sorted one has one page",
                    hint: "ask for fewer items by 'limit', or leave 'sort' out"
                )
            }
        }
    }

    /// Adds an item to the page.
    ///
    /// - Returns: Whether it fits.
    private func take(_ item: KeychainItem) throws -> Bool {
        var key: KeychainItem?
        if query.itemClass == .identity {
            do {
                key = try keychain.index.privateKey(of: item, in: query.groups, with: keyAttributes)
            } catch let error as CofferError where error.code == .interactionNotAllowed {
                if isForFirst { throw error }
                page.sealedCount += 1
            }
            if key == nil { return true }
        }
        let state = state
        let isKeyLocked = key.map { !$0.accessibility.isAvailable(in: state) } ?? false
        let isLocked = isKeyLocked || !item.accessibility.isAvailable(in: state)
        let lost = item.isLeftBehind ? item : key?.isLeftBehind == true ? key : nil
        let wantsSecret = wantsData && !isLocked && lost == nil
        if let lost, wantsData && isForFirst { throw CofferError.leftBehind(lost) }
        if wantsData && isLocked && isForFirst {
            throw CofferError.locked(item.attributes.quoted, in: state, for: .read)
        }
        if wantsSecret && item.isExtractable, let error = try keychain.refusal(of: item, context) {
            if isForFirst { throw error }
            page.unauthenticatedCount += 1
            page.refusal = error
            return true
        }
        let isGiven = wantsSecret && item.isExtractable
        if wantsSecret && !isGiven && params.returns == [.data] {
            let error = CofferError.staysInside(item)
            if isForFirst { throw error }
            page.refusal = error
            return true
        }
        // Escaping makes up to six bytes of one.
        let size =
            256
            + (params.returns.contains(.attributes)
                ? 6 * (item.attributes.byteCount + (key?.attributes.byteCount ?? 0)) : 0)
        let secretBytes = isGiven ? item.secretByteCount : 0
        guard page.items.isEmpty || page.fits(size, secretBytes) else { return false }
        page.jsonBytes += size
        page.payloadBytes += secretBytes
        let info = describe(item, byteCount: isGiven ? item.secretByteCount : nil)
        page.items.append(key.map { info.identity(with: describe($0)) } ?? info)
        page.given.append(item)
        if wantsData, let lost {
            page.leftBehindCount += 1
            page.refusal = .leftBehind(lost)
        } else if wantsData && isLocked {
            page.lockedCount += 1
        }
        if isGiven { page.opened.append(item) }
        return true
    }

    private func describe(_ item: KeychainItem, byteCount: Int? = nil) -> KeychainItemInfo {
        KeychainItemInfo(item, params.returns, byteCount: byteCount, in: state)
    }

    /// The protection that is available in the fewest states.
    private var strictest: Protection? {
        page.opened.map(\.accessibility).strictest.map { .keychain($0) }
    }
}

/// An operation on all items that a query selects.
///
/// The search may take several turns, the operation runs in one.
final class KeychainSelection: SlicedWork {
    private let query: ItemQuery
    private let operation: ItemOperation
    private let body: ([KeychainItem], Catalog) throws -> Reply

    private var place: Int64?
    /// Found in earlier turns: other clients may have changed them since.
    private var earlier: [ItemID] = []
    private var found: [KeychainItem] = []
    private var damaged: CofferError?
    private(set) var doneCount = 0

    /// Begins a search.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - operation: What the operation does with the items, for the error.
    ///   - body: The operation; it gets at least one item.
    init(
        _ query: ItemQuery,
        for operation: ItemOperation,
        then body: @escaping ([KeychainItem], Catalog) throws -> Reply
    ) {
        self.query = query
        self.operation = operation
        self.body = body
    }

    package func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        earlier += found.map(\.id)
        found = []
        repeat {
            let batch = try catalog.keychain.index.search(query, after: place, lookingAt: Limits.queryBatch)
            doneCount += batch.lookedAt
            damaged = damaged ?? batch.damaged.first
            if !batch.sealedRows.isEmpty {
                throw CofferError.locked("what may match", in: catalog.keychain.state, for: operation)
            }
            found += batch.items
            place = batch.next
        } while place != nil && !isEnough()
        if place != nil { return nil }
        let items = try earlier.compactMap { try catalog.keychain.find($0) }.filter(query.matches) + found
        guard !items.isEmpty else {
            throw damaged ?? CofferError(.itemNotFound, "no keychain item matches")
        }
        return try body(items, catalog)
    }
}

extension KeychainItemInfo {
    /// The identity of this certificate and its private key, which is not stored; the certificate's attributes take
    /// precedence.
    fileprivate func identity(with key: KeychainItemInfo) -> KeychainItemInfo {
        KeychainItemInfo(
            itemClass: .identity,
            reference: reference,
            attributes: attributes.map { $0.merging(key.attributes ?? [:]) { own, _ in own } },
            user: user.map { $0.merging(key.user ?? [:]) { own, _ in own } },
            byteCount: byteCount,
            accessControl: accessControl,
            isLocked: isLocked || key.isLocked,
            isExpired: isExpired || key.isExpired,
            isLeftBehind: isLeftBehind || key.isLeftBehind
        )
    }
}
