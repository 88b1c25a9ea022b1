package import CofferCore

/// The values of an item's attributes.
///
/// A list, because an item has few: looking through it costs less than hashing.
package struct AttributeValues: Hashable, Sendable {
    private var entries: [(attribute: KeychainAttribute, value: AttributeValue)] = []

    /// Takes over the values of a dictionary.
    package init(_ values: [KeychainAttribute: AttributeValue] = [:]) {
        entries = values.map { ($0.key, $0.value) }
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
            case (let value?, nil): entries.append((attribute, value))
            case (nil, let place?): entries.remove(at: place)
            case (nil, nil): break
            }
        }
    }

    /// Reserves memory for a number of attributes.
    mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    /// Appends the value of an attribute that has none yet.
    mutating func append(_ value: AttributeValue, of attribute: KeychainAttribute) {
        entries.append((attribute, value))
    }

    /// Sets all values of others.
    package mutating func merge(_ others: AttributeValues) {
        for (attribute, value) in others.entries { self[attribute] = value }
    }

    /// All values, in no particular order.
    var all: some Sequence<AttributeValue> { entries.lazy.map(\.value) }

    /// The attributes with their values, in the order of their codes in sealed metadata.
    var sorted: [(attribute: KeychainAttribute, value: AttributeValue)] {
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
        for (attribute, value) in sorted {
            hasher.combine(attribute.code)
            hasher.combine(value)
        }
    }
}

extension AttributeValues: ExpressibleByDictionaryLiteral {
    /// Makes values; no attribute occurs twice.
    package init(dictionaryLiteral elements: (KeychainAttribute, AttributeValue)...) {
        entries = elements.map { (attribute: $0, value: $1) }
    }
}
