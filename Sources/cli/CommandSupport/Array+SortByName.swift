package import CofferCore

extension Array {
    /// Sorts a listing by the bytes of the names, and removes duplicates.
    ///
    /// - Parameters:
    ///   - name: Returns the name of an entry. An item that moved between the stores during the listing may be listed
    ///     twice.
    ///   - group: Returns its access group, if the entries may be of several.
    ///   - reference: Returns its reference, if several entries may have one name.
    package mutating func sortByName(
        _ name: (Element) -> String,
        in group: (Element) -> String = { _ in "" },
        _ reference: (Element) -> ItemID? = { _ in nil }
    ) {
        func isSame(_ one: Element, _ other: Element) -> Bool {
            name(one).hasSameBytes(as: name(other)) && group(one).hasSameBytes(as: group(other))
        }
        // Entries are large: only their names are moved while they are sorted.
        let order = enumerated().map { (index: $0.offset, name: name($0.element)) }.sorted { one, other in
            if one.name.precedes(bytesOf: other.name) { return true }
            return one.name.hasSameBytes(as: other.name)
                && group(self[one.index]).precedes(bytesOf: group(self[other.index]))
        }
        var sorted: Self = []
        sorted.reserveCapacity(count)
        for place in order {
            let entry = self[place.index]
            guard let last = sorted.last, isSame(last, entry) else {
                sorted.append(entry)
                continue
            }
            let isListed = sorted.reversed().prefix { isSame($0, entry) }.contains { listed in
                reference(listed) == nil || reference(entry) == nil || reference(listed) == reference(entry)
            }
            if !isListed { sorted.append(entry) }
        }
        self = sorted
    }
}
