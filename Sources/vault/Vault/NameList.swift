internal import CofferCore
package import CofferMemory
internal import Glibc

/// The names of items, opened, in the order of their bytes.
///
/// They are in memory that is not dumped, and that is wiped when the list is released.
@safe
package final class NameList {
    private struct Place {
        let start: UInt32
        let count: UInt32
    }

    private var bytes: SecretBytes
    private var usedCount = 0
    private var places: [Place] = []

    package init() throws(SecretMemoryError) { bytes = try SecretBytes(zeros: Limits.keptNameBytes / 128, in: .bulk) }

    // MARK: Filling

    /// Appends a name; the list must be sorted before it is asked.
    ///
    /// - Returns: Whether it fits into ``Limits/keptNameBytes``.
    package func append(_ name: String, in group: String) throws(SecretMemoryError) -> Bool {
        guard let place = try store(Self.key(name, group)) else { return false }
        places.append(place)
        return true
    }

    /// Sorts the names, once all are appended.
    package func sort() {
        bytes.withBytes { bytes in
            places.sort { Self.compare($0, $1, in: bytes) < 0 }
        }
    }

    /// Adds a name to the sorted list, unless it is there.
    ///
    /// - Returns: Whether it fits.
    func insert(_ name: String, in group: String) throws(SecretMemoryError) -> Bool {
        let key = Self.key(name, group)
        let index = firstIndex(notBefore: key)
        if index < places.count, self.key(at: index) == key { return true }
        guard let place = try store(key) else { return false }
        places.insert(place, at: index)
        return true
    }

    /// Removes a name from the sorted list.
    func remove(_ name: String, in group: String) {
        let key = Self.key(name, group)
        let index = firstIndex(notBefore: key)
        if index < places.count, self.key(at: index) == key { places.remove(at: index) }
    }

    /// Copies a key behind the others.
    ///
    /// - Returns: Where it is; `nil` if there is no room for it.
    private func store(_ key: [UInt8]) throws(SecretMemoryError) -> Place? {
        let end = usedCount + key.count
        guard end <= Limits.keptNameBytes else { return nil }
        if end > bytes.count {
            var larger = try SecretBytes(zeros: min(Limits.keptNameBytes, max(end, 2 * bytes.count)), in: .bulk)
            bytes.withBytes { larger.copy($0, to: 0) }
            bytes = larger
        }
        unsafe bytes.copy(key.span.bytes, to: usedCount)
        defer { usedCount = end }
        return Place(start: UInt32(usedCount), count: UInt32(key.count))
    }

    // MARK: Asking

    /// What a shell may complete a text to: the names that begin with it, or else their next parts.
    package func completions(of prefix: String, in group: String) -> [String] {
        let groupCount = group.utf8.count + 1
        var start = Self.key(prefix, group)
        while true {
            let range = range(behind: start)
            if range.count <= Limits.completions { return texts(range.map(key), behind: groupCount) }
            let parts = parts(of: range, behind: start.count)
            guard parts.count == 1, let folder = parts.first, folder.count > start.count else {
                return texts(parts, behind: groupCount)
            }
            start = folder
        }
    }

    /// The next parts of names, each folder as one.
    ///
    /// Of too many, the last one is the last of all, so that what the parts
    /// have in common is what all names have in common.
    private func parts(of range: Range<Int>, behind count: Int) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var index = range.lowerBound
        while index < range.upperBound {
            if parts.count == Limits.completedParts - 1 { index = range.upperBound - 1 }
            var part = key(at: index)
            if let slash = part.dropFirst(count).firstIndex(of: UInt8(ascii: "/")) {
                part.removeSubrange((slash + 1)...)
                index = self.range(behind: part).upperBound
            } else {
                index += 1
            }
            parts.append(part)
        }
        return parts
    }

    private func texts(_ keys: [[UInt8]], behind groupCount: Int) -> [String] {
        var texts: [String] = []
        for key in keys {
            let text = String(decoding: key.dropFirst(groupCount), as: UTF8.self)
            if texts.last.map({ !$0.hasSameBytes(as: text) }) ?? true { texts.append(text) }
        }
        return texts
    }

    private func range(behind start: [UInt8]) -> Range<Int> {
        // No text in UTF-8 has this byte.
        firstIndex(notBefore: start)..<firstIndex(notBefore: start + [0xff])
    }

    private func key(at index: Int) -> [UInt8] {
        let place = places[index]
        return bytes.withBytes { bytes in
            unsafe bytes.extracting(Int(place.start)..<Int(place.start + place.count)).withUnsafeBytes {
                unsafe Array($0)
            }
        }
    }

    private func firstIndex(notBefore key: [UInt8]) -> Int {
        bytes.withBytes { bytes in
            var (low, high) = (0, places.count)
            while low < high {
                let middle = (low + high) / 2
                let place = places[middle]
                let other = bytes.extracting(Int(place.start)..<Int(place.start + place.count))
                if unsafe Self.compare(other, key.span.bytes) < 0 { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    private static func compare(_ one: Place, _ other: Place, in bytes: RawSpan) -> Int {
        compare(
            bytes.extracting(Int(one.start)..<Int(one.start + one.count)),
            bytes.extracting(Int(other.start)..<Int(other.start + other.count))
        )
    }

    /// Below, at or above 0 for bytes that come before, at or behind others.
    private static func compare(_ one: RawSpan, _ other: RawSpan) -> Int {
        let order = unsafe one.withUnsafeBytes { one in
            unsafe other.withUnsafeBytes { other in
                guard let first = one.baseAddress, let second = other.baseAddress else { return Int32(0) }
                return unsafe memcmp(first, second, min(one.count, other.count))
            }
        }
        return order == 0 ? one.byteCount - other.byteCount : Int(order)
    }

    /// No name and no group contains a NUL.
    private static func key(_ name: String, _ group: String) -> [UInt8] { Array(group.utf8) + [0] + Array(name.utf8) }
}
