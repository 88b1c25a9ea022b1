package import CofferClient

/// Which items have which attributes.
///
/// It keeps hashes under a key of this process: what the attributes are is asked of the vault when a client wants to know.
package struct AttributeIndex {
    private struct Entry {
        let key: ItemKey
        var hashes: [UInt64]
        var modified: Int64
        var protection: Protection
        var contentType: String
    }

    private var entries: [Int32: Entry] = [:]
    private var numbers: [ItemKey: Int32] = [:]
    private var items: [UInt64: Set<Int32>] = [:]
    private var lastNumber: Int32 = 0

    package init() {}

    /// The items of a collection, in the order in which they were added.
    package func items(of collection: String) -> [ItemKey] {
        entries.filter { $0.value.key.collection == collection }.sorted { $0.key < $1.key }.map(\.value.key)
    }

    /// Whether it has an item.
    package func contains(_ key: ItemKey) -> Bool { numbers[key] != nil }

    /// When an item was changed last, in milliseconds since 1970; `nil` if it has none.
    package func modified(_ key: ItemKey) -> Int64? { numbers[key].flatMap { entries[$0]?.modified } }

    /// Adds an item, or replaces what is known of it.
    package mutating func set(_ key: ItemKey, _ item: ServiceItem) {
        remove(key, keepsNumber: true)
        let number = numbers[key] ?? lastNumber + 1
        lastNumber = max(lastNumber, number)
        numbers[key] = number
        let hashes = item.attributes.map { Self.hash($0.key, $0.value) }
        for hash in hashes { items[hash, default: []].insert(number) }
        entries[number] = Entry(
            key: key,
            hashes: hashes,
            modified: item.modified,
            protection: item.protection,
            contentType: item.contentType
        )
    }

    package mutating func remove(_ key: ItemKey) { remove(key, keepsNumber: false) }

    private mutating func remove(_ key: ItemKey, keepsNumber: Bool) {
        guard let number = numbers[key], let entry = entries.removeValue(forKey: number) else { return }
        if !keepsNumber { numbers[key] = nil }
        for hash in entry.hashes {
            items[hash]?.remove(number)
            if items[hash]?.isEmpty == true { items[hash] = nil }
        }
    }

    /// The items that have all of some attributes, the one that was changed last first.
    ///
    /// - Parameters:
    ///   - attributes: The attributes; without any, every item has them.
    ///   - collection: The collection; `nil` for all.
    package func items(with attributes: [String: String], in collection: String?) -> [ItemKey] {
        let sets = attributes.map { items[Self.hash($0.key, $0.value)] ?? [] }.sorted { $0.count < $1.count }
        let found: [Int32] =
            if let smallest = sets.first {
                smallest.filter { number in sets.dropFirst().allSatisfy { $0.contains(number) } }
            } else {
                Array(entries.keys)
            }
        return found.compactMap { number in entries[number].map { (number, $0) } }
            .filter { collection == nil || $0.1.key.collection == collection }
            .sorted { ($0.1.modified, $0.0) > ($1.1.modified, $1.0) }
            .map(\.1.key)
    }

    /// The item of a collection whose attributes are exactly these; of several, the one that was changed last.
    package func item(withExactly attributes: [String: String], in collection: String) -> ItemKey? {
        items(withExactly: attributes, in: collection).first
    }

    /// The items of a collection whose attributes are exactly these, the one that was changed last first.
    func items(withExactly attributes: [String: String], in collection: String) -> [ItemKey] {
        items(with: attributes, in: collection).filter { key in
            numbers[key].flatMap { entries[$0]?.hashes.count } == attributes.count
        }
    }

    /// The type of the content of an item's secret; `nil` if it has no such item.
    package func contentType(_ key: ItemKey) -> String? { numbers[key].flatMap { entries[$0]?.contentType } }

    /// Whether an item's secret can be read in a state of the vault.
    package func isReadable(_ key: ItemKey, in state: VaultState) -> Bool {
        numbers[key].flatMap { entries[$0] }?.protection.isReadable(in: state) ?? false
    }

    /// Those items whose readability differs between two states.
    package func items(thatDifferBetween one: VaultState, _ other: VaultState) -> [ItemKey] {
        entries.values.filter { $0.protection.isReadable(in: one) != $0.protection.isReadable(in: other) }.map(\.key)
    }

    private static func hash(_ name: String, _ value: String) -> UInt64 {
        var hasher = Hasher()
        // Texts that are equal to Swift may have other bytes.
        for text in [name, value] {
            hasher.combine(text.utf8.count)
            for byte in text.utf8 { hasher.combine(byte) }
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
