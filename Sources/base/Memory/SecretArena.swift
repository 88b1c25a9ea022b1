internal import CSodium
internal import CofferCore
internal import Synchronization

/// Locked memory is not available.
package struct SecretMemoryError: Error {}

/// An allocator of locked, guarded, undumpable memory.
///
/// `sodium_malloc` costs four system calls per allocation, and beyond `RLIMIT_MEMLOCK` it silently returns unlocked
/// memory. So small allocations are cut from slabs of `sodium_malloc`, large ones are regions of their own, and each
/// region is locked again explicitly, so that a failure is detected. Memory is wiped when it is released.
@safe
package final class SecretArena: Sendable {
    /// The arena of the process.
    package static let shared = SecretArena()
    /// The arena for more than a process may lock, such as a whole file of another password manager: it is wiped and
    /// not dumped like all else, and locked as far as the limit allows.
    package static let bulk = SecretArena(isLockRequired: false)

    /// The sizes into which slabs are divided; a larger allocation has its own region.
    private static let pieceSizes = [32, 128, 512, 4096]
    /// A program that asks for one secret fills and locks two of them.
    private static let slabBytes = 16 << 10
    /// The sizes of regions that are allocated for each part of a file that is read or written: some are cached.
    private static let regionSizes = [Limits.chunkBytes, 2 * Limits.chunkBytes, Limits.framePayloadBytes]
    /// How many of each size: half a mebibyte.
    private static let mostKept = [8, 4, 2]

    /// The free pieces, by size.
    private let free = Mutex(Array(repeating: Pieces(), count: SecretArena.pieceSizes.count))
    /// The addresses of the cached regions, which are wiped, by size.
    private let kept = Mutex<[[UInt]]>(Array(repeating: [], count: SecretArena.regionSizes.count))
    /// Called with memory after it was wiped, and before it is allocated again: for the test of the wiping.
    private let onRelease: (@Sendable (RawSpan) -> Void)?
    private let isLockRequired: Bool

    /// The free pieces of one size, by their addresses.
    private struct Pieces {
        /// Those that were released.
        var released: [UInt] = []
        /// The rest of the newest slab, of which nothing was allocated yet.
        var rest: Range<UInt> = 0..<0

        mutating func take(_ size: Int) -> UInt? {
            if let piece = released.popLast() { return piece }
            guard let piece = rest.first else { return nil }
            rest = (piece + UInt(size))..<rest.upperBound
            return piece
        }
    }

    /// Creates an arena.
    ///
    /// - Parameters:
    ///   - isLockRequired: Whether memory that can't be locked is refused.
    ///   - onRelease: Called with memory after it was wiped.
    package init(isLockRequired: Bool = true, onRelease: (@Sendable (RawSpan) -> Void)? = nil) {
        Sodium.prepare()
        self.isLockRequired = isLockRequired
        self.onRelease = onRelease
    }

    /// Allocates zeroed memory.
    ///
    /// - Parameter byteCount: The size; may be 0.
    /// - Throws: ``SecretMemoryError`` if it can't be locked.
    package func allocate(_ byteCount: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        guard let index = Self.pieceSizes.firstIndex(where: { $0 >= byteCount }) else {
            return unsafe try region(byteCount)
        }
        let size = Self.pieceSizes[index]
        if let piece = free.withLock({ $0[index].take(size) }),
            let address = unsafe UnsafeMutableRawPointer(bitPattern: piece)
        {
            return unsafe address
        }
        let slab = unsafe try lockedRegion(Self.slabBytes)
        let others = (UInt(bitPattern: slab) + UInt(size))..<(UInt(bitPattern: slab) + UInt(Self.slabBytes))
        free.withLock { pieces in
            // Another thread may have made a slab meanwhile, whose rest is kept.
            let former = pieces[index].rest
            pieces[index].released += stride(from: former.lowerBound, to: former.upperBound, by: size)
            pieces[index].rest = others
        }
        return unsafe slab
    }

    /// Wipes and frees memory.
    ///
    /// - Parameters:
    ///   - address: The result of ``allocate(_:)``.
    ///   - byteCount: The size that was requested.
    package func release(_ address: UnsafeMutableRawPointer, _ byteCount: Int) {
        let index = Self.pieceSizes.firstIndex { $0 >= byteCount }
        let size = index.map { Self.pieceSizes[$0] } ?? byteCount
        unsafe sodium_memzero(address, size)
        onRelease?(unsafe UnsafeRawBufferPointer(start: address, count: size).bytes)
        if let index {
            let piece = UInt(bitPattern: address)
            free.withLock { $0[index].released.append(piece) }
        } else if !keep(UInt(bitPattern: address), byteCount) {
            unsafe sodium_free(address)
        }
    }

    /// A region for so many bytes: a cached one, or one that can be cached, if that has little more than is asked for.
    private func region(_ byteCount: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        guard let index = Self.regionIndex(for: byteCount) else { return unsafe try lockedRegion(byteCount) }
        if let region = kept.withLock({ $0[index].popLast() }),
            let address = unsafe UnsafeMutableRawPointer(bitPattern: region)
        {
            return unsafe address
        }
        return unsafe try lockedRegion(Self.regionSizes[index])
    }

    /// The size of the cached regions for so many bytes; `nil` if they are too many, or too few to lock so much for them.
    private static func regionIndex(for byteCount: Int) -> Int? {
        if byteCount <= Limits.chunkBytes / 2 { return nil }
        return regionSizes.firstIndex { $0 >= byteCount }
    }

    private func keep(_ region: UInt, _ byteCount: Int) -> Bool {
        guard let index = Self.regionIndex(for: byteCount) else { return false }
        return kept.withLock { kept in
            if kept[index].count == Self.mostKept[index] { return false }
            kept[index].append(region)
            return true
        }
    }

    private func lockedRegion(_ byteCount: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        guard let region = unsafe sodium_malloc(byteCount) else { throw SecretMemoryError() }
        // sodium_malloc ignores a failure of its own lock. Locking pages twice costs nothing and reports the failure.
        guard unsafe sodium_mlock(region, byteCount) == 0 || !isLockRequired else {
            unsafe sodium_free(region)
            throw SecretMemoryError()
        }
        unsafe sodium_memzero(region, byteCount)
        return unsafe region
    }
}
