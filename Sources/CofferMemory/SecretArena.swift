internal import CSodium
internal import CofferCore
internal import Synchronization

/// Locked memory could not be had.
package struct SecretMemoryError: Error, Sendable {
    /// The bytes that were asked for.
    package let byteCount: Int
}

/// Locked, guarded, undumpable memory, handed out in pieces.
///
/// `sodium_malloc` costs four system calls a piece and is silently unlocked past `RLIMIT_MEMLOCK`. So small pieces are cut
/// from slabs that it made, large ones are its own, and each of its regions is locked again in the open, so that a
/// failure is seen. A piece is wiped when it comes back.
@safe
package final class SecretArena: Sendable {
    /// The arena of the process.
    package static let shared = SecretArena()

    /// The sizes that slabs are cut into; anything larger has a region of its own.
    private static let pieceSizes = [32, 128, 512, 4096]
    private static let slabBytes = 64 << 10
    /// Regions of this size come and go with each part of a file that is read: some are kept.
    private static let keptBytes = Limits.chunkBytes
    private static let mostKept = 8

    /// The addresses of the pieces that are free, by size.
    private let free = Mutex<[[UInt]]>(Array(repeating: [], count: SecretArena.pieceSizes.count))
    /// The addresses of the regions that are kept, wiped.
    private let kept = Mutex<[UInt]>([])
    private let onRelease: (@Sendable (RawSpan) -> Void)?

    /// Makes an arena.
    package init(onRelease: (@Sendable (RawSpan) -> Void)? = nil) {
        Sodium.prepare()
        self.onRelease = onRelease
    }

    /// Hands out zeroed memory.
    ///
    /// - Parameter byteCount: How much; may be 0.
    /// - Throws: ``SecretMemoryError`` where the system does not let it be locked.
    func allocate(_ byteCount: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        guard let index = Self.pieceSizes.firstIndex(where: { $0 >= byteCount }) else {
            if byteCount == Self.keptBytes, let region = kept.withLock({ $0.popLast() }),
                let address = unsafe UnsafeMutableRawPointer(bitPattern: region)
            {
                return unsafe address
            }
            return unsafe try Self.lockedRegion(byteCount)
        }
        if let piece = free.withLock({ $0[index].popLast() }),
            let address = unsafe UnsafeMutableRawPointer(bitPattern: piece)
        {
            return unsafe address
        }
        let slab = unsafe try Self.lockedRegion(Self.slabBytes)
        let size = Self.pieceSizes[index]
        let others = stride(from: UInt(bitPattern: slab), to: UInt(bitPattern: slab) + UInt(Self.slabBytes), by: size)
        free.withLock { $0[index].append(contentsOf: others.dropFirst()) }
        return unsafe slab
    }

    /// Takes memory back, wiped.
    ///
    /// - Parameters:
    ///   - address: What ``allocate(_:)`` gave.
    ///   - byteCount: What it was asked for.
    func release(_ address: UnsafeMutableRawPointer, _ byteCount: Int) {
        let index = Self.pieceSizes.firstIndex { $0 >= byteCount }
        let size = index.map { Self.pieceSizes[$0] } ?? byteCount
        unsafe sodium_memzero(address, size)
        onRelease?(unsafe UnsafeRawBufferPointer(start: address, count: size).bytes)
        if let index {
            let piece = UInt(bitPattern: address)
            free.withLock { $0[index].append(piece) }
        } else if byteCount != Self.keptBytes || !keep(UInt(bitPattern: address)) {
            unsafe sodium_free(address)
        }
    }

    private func keep(_ region: UInt) -> Bool {
        kept.withLock { kept in
            if kept.count == Self.mostKept { return false }
            kept.append(region)
            return true
        }
    }

    private static func lockedRegion(_ byteCount: Int) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
        guard let region = unsafe sodium_malloc(byteCount) else { throw SecretMemoryError(byteCount: byteCount) }
        // sodium_malloc shrugs when its own lock fails; locking pages twice costs nothing and tells.
        guard unsafe sodium_mlock(region, byteCount) == 0 else {
            unsafe sodium_free(region)
            throw SecretMemoryError(byteCount: byteCount)
        }
        unsafe sodium_memzero(region, byteCount)
        return unsafe region
    }
}
