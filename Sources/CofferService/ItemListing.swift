internal import CofferCore
internal import CofferDatabase
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferWire

/// One page of a listing of both stores.
///
/// The stores find names, and don't sort them: everything is looked at for that. So more is taken of one look than fits on a
/// page, names only, and the next pages are made of it; what is on a page is looked up when the page is made.
final class ItemListing: SlicedWork {
    private enum Phase {
        case begin
        case changes
        case keychain(behind: Int64?)
        case files
        case lostFiles(behind: Int64?)
        case sort
        case page
    }

    private let filter: ListingFilter
    private let limit: Int
    private let owner: LookAhead
    private let listings: Listings
    private let keys: VaultKeys
    private var phase = Phase.begin
    private(set) var doneCount = 0

    /// Names behind it are wanted.
    private var after: String?
    private var found = NameCollector()
    private var damagedCount = 0
    private var marks: ListingWindow.Marks?
    /// What is found, in descending order as far as it is sorted.
    private var sorted: [ListedName] = []
    private var window: ListingWindow?
    /// The next name of the window.
    private var place = 0
    /// The rows that have changed since the window was made.
    private var changedSecrets: [Int64] = []
    private var changedFiles: [Int64] = []
    private var walk: TreeWalk?
    private var page: [ItemInfo] = []
    private var pageByteCount = 0

    init(_ params: ItemListParameters, in group: String, _ owner: LookAhead, _ listings: Listings, _ keys: VaultKeys) {
        filter = ListingFilter(params, in: group)
        limit = Int(params.limit ?? Int64(Limits.pageItems))
        after = params.after
        self.owner = owner
        self.listings = listings
        self.keys = keys
    }

    var subject: String { "list the items" }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        _ = try walk?.resume()
        repeat {
            if let reply = try step(catalog) { return reply }
        } while !isEnough()
        return nil
    }

    private func step(_ catalog: Catalog) throws -> Reply? {
        switch phase {
        case .begin: begin(catalog)
        case .changes: try takeChange(catalog)
        case .keychain(let place): try look(intoKeychainBehind: place, catalog)
        case .files: try lookIntoFiles()
        case .lostFiles(let place):
            let lost = try catalog.files.lostFiles(behind: place)
            damagedCount += lost?.count ?? 0
            phase = lost.map { .lostFiles(behind: $0.directory) } ?? .sort
        case .sort: sort(catalog)
        case .page: return try addToPage(catalog)
        }
        return nil
    }

    // MARK: Looking ahead

    private func begin(_ catalog: Catalog) {
        if let kept = listings.take(of: owner), kept.covers(filter, behind: after, in: catalog),
            let secrets = catalog.keychain.changes.rows(since: kept.marks.keychain),
            let files = catalog.files.changes.rows(since: kept.marks.files)
        {
            window = kept
            window?.marks = ListingWindow.Marks(catalog)
            changedSecrets = filter.wantsKeychain ? secrets : []
            changedFiles = filter.wantsFiles ? files : []
            phase = .changes
        } else {
            beginScan(catalog)
        }
    }

    private func takeChange(_ catalog: Catalog) throws {
        if let row = changedSecrets.popLast() {
            let item: KeychainItem?
            do {
                item = try catalog.keychain.item(at: row)
            } catch let error as CofferError where error.code == .decode {
                return
            }
            if let item, let name = name(of: item) { window?.add(ListedName(name: name, store: .keychain)) }
        } else if let row = changedFiles.popLast() {
            guard let file = try catalog.files.file(numbered: row, in: filter.group) else { return }
            window?.add(ListedName(name: file.path, store: .file))
        } else {
            beginPage()
        }
    }

    // MARK: Looking at everything

    private func beginScan(_ catalog: Catalog) {
        listings.scanCount += 1
        // What changes from here on is looked at again for the next page.
        marks = ListingWindow.Marks(catalog)
        found = NameCollector()
        sorted = []
        damagedCount = 0
        walk = filter.wantsFiles ? catalog.files.walk(below: nil, in: filter.group, isRecursive: true) : nil
        phase = filter.wantsKeychain ? .keychain(behind: nil) : .files
    }

    private func look(intoKeychainBehind place: Int64?, _ catalog: Catalog) throws {
        let batch = try catalog.keychain.search(filter.query, after: place, lookingAt: Limits.queryBatch)
        doneCount += batch.lookedAt
        damagedCount += batch.damagedRows.count
        for item in batch.items {
            if let name = name(of: item) { add(ListedName(name: name, store: .keychain)) }
        }
        phase = batch.next.map { .keychain(behind: $0) } ?? .files
    }

    private func lookIntoFiles() throws {
        guard let visit = try walk?.next() else {
            phase = walk == nil ? .sort : .lostFiles(behind: nil)
            return
        }
        switch visit {
        case .entry(let entry):
            doneCount += 1
            if !entry.isDirectory { add(ListedName(name: entry.path, store: .file)) }
        case .damaged: damagedCount += 1
        case .end: break
        }
    }

    private func add(_ name: ListedName) {
        if let after, !after.precedes(name.name) { return }
        if filter.contains(name.name) { found.add(name) }
    }

    /// The name in the one namespace; `nil` where it has none, or is of another group.
    private func name(of item: KeychainItem) -> String? {
        guard item.attributes.group.utf8.elementsEqual(filter.group.utf8) else { return nil }
        return item.attributes.name?.path
    }

    private func sort(_ catalog: Catalog) {
        // Moved while the walk rested, a file may have come by twice.
        for _ in 0..<64 {
            guard let next = found.removeLast() else {
                window = ListingWindow(
                    filter,
                    behind: after,
                    upTo: found.cutoff,
                    sorted.reversed(),
                    damagedCount: damagedCount,
                    marks ?? ListingWindow.Marks(catalog),
                    of: catalog
                )
                sorted = []
                return beginPage()
            }
            if let last = sorted.last, !next.precedes(last) { continue }
            sorted.append(next)
        }
    }

    // MARK: The page

    private func beginPage() {
        place = window?.place(behind: after) ?? 0
        phase = .page
    }

    private func addToPage(_ catalog: Catalog) throws -> Reply? {
        guard let window else { preconditionFailure("a page is made of a window") }
        guard place < window.names.count else {
            if window.cutoff == nil { return finish(window, next: nil) }
            if !page.isEmpty { return finish(window, next: after) }
            // All that was there is gone: what comes behind it has to be looked for.
            beginScan(catalog)
            return nil
        }
        let listed = window.names[place]
        if let info = try lookUp(listed, catalog) {
            pageByteCount += info.greatestJSONByteCount
            if page.count == limit || pageByteCount > Limits.pageJSONBytes && !page.isEmpty {
                return finish(window, next: after)
            }
            page.append(info)
        }
        after = listed.name
        place += 1
        return nil
    }

    /// What an item is now; `nil` where it is not there any more, or not meant.
    private func lookUp(_ listed: ListedName, _ catalog: Catalog) throws -> ItemInfo? {
        guard let name = try? ItemName(listed.name) else { return nil }
        let info: ItemInfo?
        do {
            switch listed.store {
            case .keychain:
                let item = try catalog.keychain.find(GenericPasswordKey(name, in: filter.group))
                // Another spelling is another name.
                info = item.flatMap { item in
                    item.key.path.utf8.elementsEqual(listed.name.utf8) ? ItemInfo(item, in: keys.state) : nil
                }
            case .file: info = try catalog.files.find(name, in: filter.group).map { ItemInfo($0, in: keys.state) }
            }
        } catch let error as CofferError where error.code == .decode {
            return nil
        }
        return info.flatMap { filter.contains($0) ? $0 : nil }
    }

    private func finish(_ window: ListingWindow, next: String?) -> Reply {
        if next != nil { listings.keep(window, for: owner) }
        return Reply(ItemPage(items: page, next: next, damagedCount: window.damagedCount))
    }
}

extension ItemInfo {
    /// The most bytes that the item's JSON can have: a byte of a name may become six.
    fileprivate var greatestJSONByteCount: Int { 512 + name.utf8.count * 6 }
}
