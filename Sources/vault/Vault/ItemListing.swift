package import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
package import CofferWire

/// One page of a listing of both stores: the secrets in the order of their rows, then the files in the order of the
/// tree.
///
/// An item that moves between the stores while a client lists may appear twice, but is never missing.
package final class ItemListing<Entry>: SlicedWork {
    private let params: ItemListParameters
    private let groups: AccessGroups
    private let filter: ListingFilter
    private let query: ItemQuery
    private var position: ListingPosition
    private var walk: TreeWalk?
    private var quota: PageQuota
    /// Describes an item that is listed, by its name in the listing.
    private let describe: (StoredItem, String) -> Entry
    /// Makes the answer of the entries, the position of the next page, and what could not be read.
    private let page: ([Entry], String?, Unread) -> Reply
    private var items: [Entry] = []
    private var listed = ListedItems()
    private var unread = Unread()

    package init(
        _ params: ItemListParameters,
        in groups: AccessGroups,
        describe: @escaping (StoredItem, String) -> Entry,
        page: @escaping ([Entry], String?, Unread) -> Reply
    ) throws(CofferError) {
        self.params = params
        self.groups = groups
        filter = try ListingFilter(params)
        var query = ItemQuery(groups: groups)
        query.itemClass = params.itemClass
        query.expiringBefore = params.expiringBefore
        self.query = query
        quota = PageQuota(params.limit)
        self.describe = describe
        self.page = page
        if params.itemClass == .identity { throw .identityIsNotStored }
        guard let after = params.after else {
            position = params.store == .file ? .files(latestSecret: nil, at: []) : .secrets(after: nil)
            return
        }
        guard let former = ListingPosition(after) else { throw .noPosition("after") }
        position = former
    }

    private var wantsFiles: Bool { params.store != .keychain && params.itemClass == nil }

    private func expiresInTime(_ file: FileItem) -> Bool {
        guard let end = params.expiringBefore else { return true }
        return file.expiryDate.map { $0 < end } ?? false
    }

    package var doneCount: Int { quota.rowCount }

    package func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        _ = try walk?.resume()
        if doneCount > 0 { listed.index() }
        repeat {
            guard try advance(catalog) else { return page(items, nil, unread) }
            if quota.isSpent { return page(items, place.text, unread) }
        } while !isEnough()
        return nil
    }

    /// The position, including that of the walk.
    private var place: ListingPosition {
        if case .files(let latest, _) = position, let walk { return .files(latestSecret: latest, at: walk.position) }
        return position
    }

    /// Scans some more rows.
    ///
    /// - Returns: Whether there may be more.
    private func advance(_ catalog: Catalog) throws -> Bool {
        switch position {
        case .secrets(let row):
            let (last, isAtEnd) = try scanSecrets(after: row, catalog.keychain)
            position = isAtEnd ? .files(latestSecret: last, at: []) : .secrets(after: last)
            return !isAtEnd || wantsFiles
        case .files(let latest, let start):
            guard wantsFiles else { return false }
            if try scanFile(from: start, catalog.files) { return true }
            position = .lostFiles(latestSecret: latest, after: .min)
        case .lostFiles(let latest, let directory):
            guard let lost = try catalog.files.lostFiles(behind: directory) else {
                position = .newSecrets(after: latest)
                return params.store != .file
            }
            quota.addRows(1)
            unread.damagedCount += lost.count
            position = .lostFiles(latestSecret: latest, after: lost.directory)
        case .newSecrets(let row):
            let (last, isAtEnd) = try scanSecrets(after: row, catalog.keychain)
            position = .newSecrets(after: last)
            return !isAtEnd
        }
        return true
    }

    /// Scans a batch of the keychain, or as much of it as fits into the page.
    ///
    /// - Returns: The last row that was scanned, and whether it is the last of all.
    private func scanSecrets(after row: Int64?, _ keychain: KeychainStore) throws -> (last: Int64?, isAtEnd: Bool) {
        let batch = try keychain.index.search(query, after: row, lookingAt: min(Limits.queryBatch, quota.rowsLeft))
        quota.addRows(batch.lookedAt)
        for item in batch.items {
            add(item)
            guard quota.isSpent, item.row < batch.last ?? item.row else { continue }
            unread.damagedCount += batch.damagedRows.count { $0 < item.row }
            unread.sealedCount += batch.sealedRows.count { $0 < item.row }
            return (item.row, false)
        }
        unread.damagedCount += batch.damagedRows.count
        unread.sealedCount += batch.sealedRows.count
        return (batch.last ?? row, batch.next == nil)
    }

    /// Adds an item to the page.
    ///
    /// An item that has moved between the stores since the last slice is replaced, so that it appears once.
    ///
    /// - Parameter id: The item's reference, if it has no path: an item that has one can't have a namesake.
    private func take(_ item: StoredItem, named name: String, _ id: ItemID? = nil) {
        quota.add(name, of: item.group)
        let entry = describe(item, name)
        if let place = listed.add(item.group, name, id, at: items.count) {
            items[place] = entry
        } else {
            items.append(entry)
        }
    }

    private func add(_ item: KeychainItem) {
        // Whoever lists one class sees what people are not to see; whoever removes all that is listed, does not.
        if params.itemClass == nil && item.attributes.isInvisible { return }
        let path = item.attributes.name?.path
        let name = path ?? item.listedName
        guard filter.isWanted(name), filter.isWanted(tags: item.attributes.user[ListingFilter.tags]),
            filter.contains(name) || item.attributes.texts.contains(where: filter.contains)
        else { return }
        take(.keychain(item), named: name, path == nil ? item.id : nil)
    }

    /// Visits the next entry of the tree.
    ///
    /// - Returns: Whether there is one.
    private func scanFile(from start: [UInt8], _ files: FileStore) throws -> Bool {
        if walk == nil {
            var walk = files.walk(below: nil, in: groups, isRecursive: true)
            guard try walk.seek(start) else { throw CofferError.noPosition("after") }
            self.walk = walk
        }
        guard let visit = try walk?.next() else { return false }
        switch visit {
        case .entry(let entry):
            quota.addRows(1)
            guard let file = entry.file, filter.isWanted(file.path), expiresInTime(file) else { return true }
            let attributes = file.metadata.extended
            guard params.isForExport || !attributes.isInvisible,
                filter.wantsAnyTags || filter.isWanted(tags: attributes.ofOwner()[ListingFilter.tags]),
                filter.contains(file.path) || attributes.texts.contains(where: filter.contains)
            else { return true }
            take(.file(file), named: file.path)
        case .damaged:
            quota.addRows(1)
            unread.damagedCount += 1
        case .sealed(let entry):
            quota.addRows(1)
            if entry.isFile { unread.sealedCount += 1 }
        case .end: break
        }
        return true
    }
}

/// The names and the texts that a listing wants.
private struct ListingFilter {
    private let prefix: String?
    private let pattern: NamePattern?
    /// The text that is searched, in lower case.
    private let text: String?
    /// The words that an item has among its tags.
    private let words: [Substring]
    private let ignoresCase: Bool

    /// The attribute whose words are the tags of an item.
    static let tags: AttributeName = "tags"

    init(_ params: ItemListParameters) throws(CofferError) {
        ignoresCase = params.ignoresCase
        prefix = ignoresCase ? params.prefix?.lowercased() : params.prefix
        pattern =
            ignoresCase
            ? try params.pattern.map { (given) throws(CofferError) in try NamePattern(given.text.lowercased()) }
            : params.pattern
        text = params.text?.lowercased()
        let tags = params.tags ?? ""
        words = Self.words(of: ignoresCase ? tags.lowercased() : tags)
    }

    private static func words(of text: String) -> [Substring] { text.split(whereSeparator: \.isWhitespace) }

    var wantsAnyTags: Bool { words.isEmpty }

    func isWanted(tags: String?) -> Bool {
        if words.isEmpty { return true }
        guard let tags else { return false }
        let present = Self.words(of: ignoresCase ? tags.lowercased() : tags)
        return words.allSatisfy { word in present.contains { $0.utf8.elementsEqual(word.utf8) } }
    }

    func isWanted(_ name: String) -> Bool {
        if prefix == nil && pattern == nil { return true }
        let name = ignoresCase ? name.lowercased() : name
        if let prefix, !name.utf8.starts(with: prefix.utf8) { return false }
        return pattern?.matches(name) ?? true
    }

    /// Whether a text has the text that is searched in it.
    func contains(_ other: String) -> Bool {
        guard let text else { return true }
        return other.lowercased().containsBytes(of: text)
    }
}

/// The items of a page, by what tells them apart.
private struct ListedItems {
    private var names: [(group: String, name: String, id: ItemID?)] = []
    /// The indices of the items, by the bytes of their groups and names; `nil` in the first slice, in which no item can move
    /// between the stores.
    private var places: [[UInt8]: Int]?

    /// Adds an item.
    ///
    /// - Returns: The index of the item that it replaces; `nil` for none.
    mutating func add(_ group: String, _ name: String, _ id: ItemID?, at place: Int) -> Int? {
        guard places != nil else {
            names.append((group, name, id))
            return nil
        }
        let key = Self.key(group, name, id)
        guard let former = places?.updateValue(place, forKey: key) else { return nil }
        places?[key] = former
        return former
    }

    /// Indexes the items of the first slice, after it.
    mutating func index() {
        if places != nil { return }
        var places: [[UInt8]: Int] = [:]
        places.reserveCapacity(names.count)
        for (place, item) in names.enumerated() { places[Self.key(item.group, item.name, item.id)] = place }
        self.places = places
        names = []
    }

    // No name contains a NUL. Several items of the keychain may have one qualified name.
    private static func key(_ group: String, _ name: String, _ id: ItemID?) -> [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(group.utf8.count + name.utf8.count + 2 + ItemID.byteCount)
        key += group.utf8
        key.append(0)
        key += name.utf8
        if let id {
            key.append(0)
            key += id.bytes
        }
        return key
    }
}

/// How many rows of a page could not be read.
package struct Unread {
    /// The damaged ones.
    package var damagedCount = 0
    /// Those whose names can be read after the first unlock only.
    package var sealedCount = 0

    package init() {}
}

/// The position of a listing of both stores.
enum ListingPosition {
    case secrets(after: Int64?)
    case files(latestSecret: Int64?, at: [UInt8])
    case lostFiles(latestSecret: Int64?, after: Int64)
    /// Keychain rows that were added during the listing: a file that became a secret meanwhile is among them.
    case newSecrets(after: Int64?)

    /// Reads the position at which an earlier page ended.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, let row = RowCursor.number(parts[1]) else { return nil }
        switch (parts[0], parts.count) {
        case ("secrets", 2): self = .secrets(after: row)
        case ("files", 3):
            guard let position = Base64.decode(parts[2]) else { return nil }
            self = .files(latestSecret: row, at: position)
        case ("lost", 3):
            guard let directory = Int64(parts[2]) else { return nil }
            self = .lostFiles(latestSecret: row, after: directory)
        case ("new", 2): self = .newSecrets(after: row)
        default: return nil
        }
    }

    /// The position in the form that a client gets.
    var text: String {
        switch self {
        case .secrets(let row): "secrets:\(RowCursor.text(row))"
        case .files(let latest, let position): "files:\(RowCursor.text(latest)):\(Base64.encode(position))"
        case .lostFiles(let latest, let directory): "lost:\(RowCursor.text(latest)):\(directory)"
        case .newSecrets(let row): "new:\(RowCursor.text(row))"
        }
    }
}

extension CofferError {
    package static var identityIsNotStored: CofferError {
        CofferError(
            .param,
            "an identity is not stored: name the certificate or the key",
            hint: "'class' is 'certificate' or 'key'"
        )
    }
}
