internal import CofferCore
internal import CofferMemory
internal import CofferVault
internal import CofferWire

/// The completions of a text where the catalog keeps no list of names: the names are read, and kept for the next time.
final class Completions: SlicedWork {
    private let prefix: String
    private let group: String
    private var startCount = 0
    private var forgetCount = 0
    private var names: NameList
    private var listing: ItemListing<Void>?
    /// The position of the next page; `nil` behind the last one.
    private var next: String?
    /// Whether the names of all groups are read; otherwise those that begin with the prefix.
    private var isWhole: Bool
    private var isFull = false
    /// Whether every name could be read so far.
    private var isComplete = true
    private(set) var doneCount = 0

    init(of prefix: String, in group: String, _ kept: KeptNames) throws {
        self.prefix = prefix
        self.group = group
        isWhole = true
        names = try NameList()
        try begin(with: kept)
    }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        let kept = catalog.changes.names
        if kept.forgetCount != forgetCount { try begin(with: kept) }
        repeat {
            guard let listing else { return finish(kept) }
            guard try listing.slice(catalog, until: isEnough) != nil else { return nil }
            doneCount += listing.doneCount
            if isFull { try beginAgain(kept) } else { try continueReading() }
        } while !isEnough()
        return nil
    }

    /// Begins to read, also if keys have gone since: what was read before may not be named any more.
    private func begin(with kept: KeptNames) throws {
        names = try NameList()
        (isWhole, isFull, isComplete) = (!kept.isTooLong, false, true)
        startCount = kept.beginReading()
        forgetCount = kept.forgetCount
        try begin(after: nil)
    }

    private func continueReading() throws {
        if let next { try begin(after: next) } else { listing = nil }
    }

    /// Begins again with the names that begin with the prefix, because all are too many.
    private func beginAgain(_ kept: KeptNames) throws {
        guard isWhole else {
            throw CofferError(.dataTooLarge, "too many names begin with \(quotedForDisplay(prefix))", hint: "type more")
        }
        kept.noteTooLong()
        names = try NameList()
        (isWhole, isFull) = (false, false)
        try begin(after: nil)
    }

    /// Begins to read a page.
    private func begin(after place: String?) throws {
        let params = ItemListParameters(prefix: isWhole ? nil : prefix, after: place)
        let groups: AccessGroups = isWhole ? .all : [group]
        listing = try ItemListing(params, in: groups, describe: { [unowned self] in take($1, in: $0.group) }) {
            [unowned self] in
            next = $1
            isComplete = isComplete && $2.damagedCount == 0 && $2.sealedCount == 0
            return Reply(ItemPage(items: [], damagedCount: 0))
        }
    }

    private func take(_ name: String, in group: String) {
        if !isFull, (try? names.append(name, in: group)) != true { isFull = true }
    }

    private func finish(_ kept: KeptNames) -> Reply {
        names.sort()
        if isWhole, isComplete { kept.keep(names, since: startCount) }
        return Reply(completions: names.completions(of: prefix, in: group))
    }
}

extension Reply {
    init(completions names: [String]) {
        self.init(ItemPage(items: [], damagedCount: 0, names: names.firstPage { $0.utf8.count * 6 + 8 }))
    }
}

extension ItemListParameters {
    /// Checks that a request for completions has no other filter.
    ///
    /// - Throws: `param`.
    func checkForCompletions() throws(CofferError) {
        let others =
            [pattern != nil, text != nil, tags != nil, itemClass != nil, store != nil, after != nil]
            + [expiringBefore != nil, ignoresCase, isOfAllGroups, isForExport, limit != nil]
        guard others.contains(true) else { return }
        throw CofferError(
            .param,
            "parameter 'completions' was given with others than 'prefix' and 'group'",
            hint: "leave them out"
        )
    }
}
