/// The free slots of an overlay.
package struct SlotSpace {
    private var free: [Int64] = []
    /// Free slots, the first ones last; as ranges, because a row may name a slot far beyond all others.
    private var gaps: [Range<Int64>] = []
    /// Free, but possibly being read.
    private var freed: [Int64] = []
    private var end: Int64
    /// Slots whose space is of no use before they are taken again.
    package var emptied: Set<Int64> = []

    /// Creates the slots of an overlay from those that are in use.
    ///
    /// - Parameter keptCount: The first slots, which are not written again whether or not they are in use.
    package init(used: [Int64], keeping keptCount: Int64) {
        end = max(keptCount, (used.max() ?? -1) + 1)
        guard keptCount == 0, used.count < end else { return }
        var next: Int64 = 0
        for number in used.sorted() {
            if number > next { gaps.append(next..<number) }
            next = max(next, number + 1)
        }
        gaps.reverse()
    }

    /// Whether none was ever taken, or reserved.
    package var isUnused: Bool { end == 0 }

    package mutating func take() -> Int64 {
        if let number = free.popLast() {
            emptied.remove(number)
            return number
        }
        if let gap = gaps.popLast() {
            if gap.count > 1 { gaps.append(gap.lowerBound + 1..<gap.upperBound) }
            return gap.lowerBound
        }
        defer { end += 1 }
        return end
    }

    package mutating func free(_ number: Int64) { freed.append(number) }

    /// No read is in progress: freed slots can be reused.
    package mutating func reuseFreed() {
        free += freed
        freed = []
    }

    /// The free ones of those that were emptied, as ranges.
    package mutating func takeEmptied() -> [Range<Int64>] {
        if emptied.isEmpty { return [] }
        var ranges: [Range<Int64>] = []
        for number in free.filter(emptied.contains).sorted() {
            emptied.remove(number)
            if let last = ranges.last, last.upperBound == number {
                ranges[ranges.count - 1] = last.lowerBound..<(number + 1)
            } else {
                ranges.append(number..<(number + 1))
            }
        }
        return ranges
    }

    /// Makes that many slots at the end free, and returns the new ones.
    package mutating func reserve(_ count: Int) -> Range<Int64> {
        let missing = max(0, count - gaps.reduce(free.count) { $0 + $1.count })
        let first = end
        if missing > 0 { gaps.insert(first..<first + Int64(missing), at: 0) }
        end += Int64(missing)
        return first..<end
    }
}
