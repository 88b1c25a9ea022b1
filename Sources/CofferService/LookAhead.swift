internal import CofferCore
internal import CofferDatabase
internal import CofferFiles
internal import CofferKeychain
internal import CofferWire

/// Which items a listing is of.
struct ListingFilter {
    let group: String
    let store: StoreName?
    private let prefix: String?
    private let pattern: NamePattern?
    private let expiringBefore: Int64?

    init(_ params: ItemListParameters, in group: String) {
        self.group = group
        store = params.store
        prefix = params.prefix
        pattern = params.pattern
        expiringBefore = params.expiringBefore
    }

    /// The items of the keychain among which those are that have a name.
    var query: ItemQuery {
        var query = ItemQuery(groups: [group])
        query.itemClass = .genericPassword
        query.expiringBefore = expiringBefore
        return query
    }

    var wantsKeychain: Bool { store != .file }
    /// Files have no expiry date.
    var wantsFiles: Bool { store != .keychain && expiringBefore == nil }

    func contains(_ name: String) -> Bool {
        if let prefix, !name.utf8.starts(with: prefix.utf8) { return false }
        return pattern?.matches(name) ?? true
    }

    func contains(_ info: ItemInfo) -> Bool {
        guard contains(info.name) else { return false }
        guard let expiringBefore else { return true }
        return info.expiryDate.map { $0 < expiringBefore } ?? false
    }

    /// Whether it means the same: texts are told apart by their bytes.
    func isSame(as other: ListingFilter) -> Bool {
        func same(_ one: String?, _ other: String?) -> Bool {
            one.map { Array($0.utf8) } == other.map { Array($0.utf8) }
        }
        return same(group, other.group) && store == other.store && same(prefix, other.prefix)
            && same(pattern?.text, other.pattern?.text) && expiringBefore == other.expiringBefore
    }
}

/// A name, and the store that it was found in.
struct ListedName {
    let name: String
    let store: StoreName

    /// What it counts for in the bound of what is held.
    fileprivate var cost: Int { name.utf8.count + 64 }

    func precedes(_ other: ListedName) -> Bool {
        if name.precedes(other.name) { return true }
        return store == .keychain && other.store == .file && !other.name.precedes(name)
    }
}

/// The first names behind a given one, out of names that come in no order: holds a bounded number of them.
struct NameCollector {
    /// A heap, with the last name on top.
    private var heap: [ListedName] = []
    private var cost = 0
    /// Where it was full: from this name on, names are missing.
    private(set) var cutoff: ListedName?

    mutating func add(_ name: ListedName) {
        if let cutoff, !name.precedes(cutoff) { return }
        heap.append(name)
        cost += name.cost
        var place = heap.count - 1
        while place > 0, heap[(place - 1) / 2].precedes(heap[place]) {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
        while heap.count > Limits.listingNames || cost > Limits.listingBytes { cutoff = removeLast() }
    }

    /// Takes out the last of the names.
    mutating func removeLast() -> ListedName? {
        guard let last = heap.first else { return nil }
        cost -= last.cost
        let moved = heap.removeLast()
        if heap.isEmpty { return last }
        heap[0] = moved
        var place = 0
        while true {
            var greatest = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                if heap[greatest].precedes(heap[child]) { greatest = child }
            }
            if greatest == place { return last }
            heap.swapAt(place, greatest)
            place = greatest
        }
    }
}

/// A part of a sorted listing: the names between two, as one look at everything has found them.
struct ListingWindow {
    let filter: ListingFilter
    /// Names behind it are in the window; `nil` for all.
    let lower: String?
    /// From this name on, names are missing; `nil` where none is.
    private(set) var cutoff: ListedName?
    /// In their order, none of them twice.
    private(set) var names: [ListedName]
    /// The rows without a name that were seen.
    let damagedCount: Int
    /// Up to where the changes of the stores are in it.
    var marks: Marks
    private weak var catalog: Catalog?
    private var cost: Int

    /// How far the changes of the stores had come.
    struct Marks {
        let keychain: Int
        let files: Int

        init(_ catalog: Catalog) {
            keychain = catalog.keychain.changes.count
            files = catalog.files.changes.count
        }
    }

    init(
        _ filter: ListingFilter,
        behind lower: String?,
        upTo cutoff: ListedName?,
        _ names: [ListedName],
        damagedCount: Int,
        _ marks: Marks,
        of catalog: Catalog
    ) {
        self.filter = filter
        self.lower = lower
        self.cutoff = cutoff
        self.names = names
        self.damagedCount = damagedCount
        self.marks = marks
        self.catalog = catalog
        cost = names.reduce(0) { $0 + $1.cost }
    }

    /// Whether it has what follows a name in a listing.
    func covers(_ filter: ListingFilter, behind name: String?, in catalog: Catalog) -> Bool {
        guard self.catalog === catalog, self.filter.isSame(as: filter) else { return false }
        // A listing that begins anew counts what is damaged anew.
        guard let name, lower.map({ !name.precedes($0) }) ?? true else { return false }
        return cutoff == nil || names.last.map { name.precedes($0.name) } ?? false
    }

    /// The place of the first name behind one.
    func place(behind name: String?) -> Int {
        guard let name else { return 0 }
        return firstPlace { name.precedes($0.name) }
    }

    /// Takes in a name that has come since.
    mutating func add(_ name: ListedName) {
        guard filter.contains(name.name), lower.map({ $0.precedes(name.name) }) ?? true,
            cutoff.map({ name.precedes($0) }) ?? true
        else { return }
        let place = firstPlace { !$0.precedes(name) }
        if place < names.count, !name.precedes(names[place]) { return }
        names.insert(name, at: place)
        cost += name.cost
        while names.count > Limits.listingNames || cost > Limits.listingBytes {
            let last = names.removeLast()
            cost -= last.cost
            cutoff = last
        }
    }

    private func firstPlace(where isBehind: (ListedName) -> Bool) -> Int {
        var low = 0
        var high = names.count
        while low < high {
            let middle = (low + high) / 2
            if isBehind(names[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// What the listing of a connection has looked at ahead.
final class LookAhead {
    fileprivate let tenant: Int
    fileprivate(set) var window: ListingWindow?

    init(of tenant: Int) { self.tenant = tenant }
}

/// The connections whose listings look ahead: so many at once, the latest; the tenant that has most gives way.
final class Listings {
    private var recent: [LookAhead] = []
    /// How often everything was looked at.
    var scanCount = 0

    /// Keeps a window for the connection's next page.
    func keep(_ window: ListingWindow, for owner: LookAhead) {
        forget(owner)
        owner.window = window
        recent.append(owner)
        if recent.count > Limits.listings { forgetOne() }
    }

    private func forgetOne() {
        let counts = Dictionary(recent.map { ($0.tenant, 1) }, uniquingKeysWith: +)
        let most = counts.values.max()
        if let oldest = recent.first(where: { counts[$0.tenant] == most }) { forget(oldest) }
    }

    /// Takes a window out.
    func take(of owner: LookAhead) -> ListingWindow? {
        defer { forget(owner) }
        return owner.window
    }

    func forget(_ owner: LookAhead) {
        guard owner.window != nil else { return }
        owner.window = nil
        recent.removeAll { $0 === owner }
    }

    func forgetAll() {
        for owner in recent { owner.window = nil }
        recent = []
    }
}

extension String {
    /// The order of the names' bytes: the same in every language and for every client.
    func precedes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
