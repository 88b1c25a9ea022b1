package import CofferCore

/// The values of an item's attributes.
///
/// A list, because an item has few: looking through it costs less than hashing.
package struct AttributeValues: Hashable, Sendable {
    /// The attributes with their values, in no particular order.
    private(set) var entries: [Entry] = []

    /// A type of its own, since the runtime takes pairs apart each time one is copied or destroyed.
    struct Entry: Sendable {
        let attribute: KeychainAttribute
        fileprivate(set) var value: AttributeValue
    }

    /// Takes over the values of a dictionary.
    package init(_ values: [KeychainAttribute: AttributeValue] = [:]) {
        entries = values.map { Entry(attribute: $0.key, value: $0.value) }
    }

    /// The number of attributes.
    package var count: Int { entries.count }

    /// The value of an attribute; `nil` if it has none.
    package subscript(attribute: KeychainAttribute) -> AttributeValue? {
        get {
            for entry in entries where entry.attribute == attribute { return entry.value }
            return nil
        }
        set {
            let place = entries.firstIndex { $0.attribute == attribute }
            switch (newValue, place) {
            case (let value?, let place?): entries[place].value = value
            case (let value?, nil): entries.append(Entry(attribute: attribute, value: value))
            case (nil, let place?): entries.remove(at: place)
            case (nil, nil): break
            }
        }
    }

    /// Reserves memory for a number of attributes.
    mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    /// Appends the value of an attribute that has none yet.
    mutating func append(_ value: AttributeValue, of attribute: KeychainAttribute) {
        entries.append(Entry(attribute: attribute, value: value))
    }

    /// Sets all values of others.
    package mutating func merge(_ others: AttributeValues) {
        for entry in others.entries { self[entry.attribute] = entry.value }
    }

    /// The attributes for which a function returns true.
    func filter(_ isIncluded: (KeychainAttribute) -> Bool) -> AttributeValues {
        var filtered = self
        filtered.entries.removeAll { !isIncluded($0.attribute) }
        return filtered
    }

    /// All values, in no particular order.
    var all: some Sequence<AttributeValue> { entries.lazy.map(\.value) }

    /// The attributes with their values, in the order of their codes in sealed metadata.
    var sorted: [Entry] {
        entries.sorted { $0.attribute.code < $1.attribute.code }
    }

    /// The same attributes with other values.
    func mapValues(_ transform: (AttributeValue) -> AttributeValue) -> AttributeValues {
        var mapped = self
        for index in mapped.entries.indices { mapped.entries[index].value = transform(entries[index].value) }
        return mapped
    }

    /// The values by their attributes.
    package var dictionary: [KeychainAttribute: AttributeValue] {
        Dictionary(uniqueKeysWithValues: entries.lazy.map { ($0.attribute, $0.value) })
    }

    /// Whether both have the same values.
    package static func == (one: AttributeValues, other: AttributeValues) -> Bool {
        one.count == other.count && one.entries.allSatisfy { other[$0.attribute] == $0.value }
    }

    /// Hashes the values, in the order of their codes.
    package func hash(into hasher: inout Hasher) {
        for entry in sorted {
            hasher.combine(entry.attribute.code)
            hasher.combine(entry.value)
        }
    }
}

extension AttributeValues: ExpressibleByDictionaryLiteral {
    /// Makes values; no attribute occurs twice.
    package init(dictionaryLiteral elements: (KeychainAttribute, AttributeValue)...) {
        entries = elements.map { Entry(attribute: $0, value: $1) }
    }
}
