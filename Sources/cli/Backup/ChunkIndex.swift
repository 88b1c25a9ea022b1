internal import CofferCore

/// The place of a chunk.
struct ChunkPlace: Sendable {
    /// The pack's number in the index.
    let pack: UInt32
    /// The bytes before it in the pack.
    let offset: UInt32
    let byteCount: UInt32
}

/// Where each chunk is: some 50 bytes of memory for each.
///
/// Of a chunk that is in two packs, the first one counts.
final class ChunkIndex {
    /// The packs, in the order in which they became known.
    private(set) var packs: [ItemID] = []
    private(set) var ids: [ChunkID] = []
    private(set) var places: [ChunkPlace] = []
    /// By hash, one more than the number of a chunk; 0 is free.
    ///
    /// There are at least half as many again as chunks, and a power of two.
    private var slots: [UInt32]

    /// Makes an empty index.
    ///
    /// - Parameter capacity: The number of chunks that are expected.
    init(capacity: Int = 0) {
        ids.reserveCapacity(capacity)
        places.reserveCapacity(capacity)
        slots = Array(repeating: 0, count: Self.slotCount(for: capacity))
    }

    private static func slotCount(for chunks: Int) -> Int {
        var count = 1024
        while count < 3 * chunks / 2 { count *= 2 }
        return count
    }

    var count: Int { ids.count }

    /// Adds a pack.
    ///
    /// - Returns: Its number.
    func add(pack: ItemID) -> UInt32 {
        packs.append(pack)
        return UInt32(packs.count - 1)
    }

    /// Adds a chunk.
    ///
    /// - Returns: Whether it was not known.
    @discardableResult
    func add(_ id: ChunkID, at place: ChunkPlace) -> Bool {
        if 3 * (ids.count + 1) > 2 * slots.count { grow() }
        let slot = slot(of: id)
        guard slots[slot] == 0 else { return false }
        ids.append(id)
        places.append(place)
        slots[slot] = UInt32(ids.count)
        return true
    }

    /// The number of a chunk; `nil` if it is not known.
    func number(of id: ChunkID) -> Int? {
        let value = slots[slot(of: id)]
        return value == 0 ? nil : Int(value) - 1
    }

    /// The place of a chunk; `nil` if it is not known.
    func place(of id: ChunkID) -> ChunkPlace? { number(of: id).map { places[$0] } }

    /// Its slot, or the free one that it would have.
    private func slot(of id: ChunkID) -> Int {
        var slot = Int(truncatingIfNeeded: id.high) & (slots.count - 1)
        while slots[slot] != 0 && ids[Int(slots[slot]) - 1] != id { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    private func grow() {
        slots = Array(repeating: 0, count: 2 * slots.count)
        for (number, id) in ids.enumerated() { slots[slot(of: id)] = UInt32(number + 1) }
    }
}
