package import CofferCore
internal import CofferCrypto
package import CofferMemory
internal import CofferSystem

/// What another thread needs of an open file: its key, and the two files of its content.
final class OpenedContent: Sendable {
    let id: ItemID
    /// The name in quotes, for errors.
    let subject: String
    let key: ContentKey
    /// The base; `nil` if the file was created through a handle.
    let base: BaseContent?
    /// The overlay; `nil` if no chunk was rewritten, and none will be.
    let overlay: Overlay?
    let directory: ContentDirectory

    init(
        id: ItemID,
        subject: String,
        key: ContentKey,
        base: BaseContent?,
        overlay: Overlay?,
        directory: ContentDirectory
    ) {
        self.id = id
        self.subject = subject
        self.key = key
        self.base = base
        self.overlay = overlay
        self.directory = directory
    }

    /// Decrypts a whole chunk.
    ///
    /// - Parameters:
    ///   - source: The place of the chunk.
    ///   - index: The number of the chunk in the file.
    ///   - sealed: A buffer for a sealed chunk.
    ///   - chunk: The buffer for the chunk, which is filled up with zeros.
    ///   - waits: Whether it may block on the disk.
    /// - Throws: ``ContentFormat/Finding`` if it is damaged; ``NotCached``.
    func open(
        _ source: ChunkSource,
        at index: Int64,
        _ sealed: inout [UInt8],
        into chunk: inout SecretBytes,
        waits: Bool = true
    ) throws {
        switch source {
        case .hole: break
        case .base:
            guard let base else { throw ContentFormat.Finding("its content is missing") }
            _ = try base.open(index, under: key, &sealed, &chunk, waits: waits)
        case .slot(let slot):
            guard let overlay else { throw ContentFormat.Finding("the chunks that were rewritten are missing") }
            try overlay.open(slot, at: index, under: key, &chunk, waits: waits)
        case .lost: throw ContentFormat.Finding("a row of its chunks has impossible values")
        }
        let byteCount = source.byteCount
        Self.wipe(&chunk, from: byteCount)
    }

    static func wipe(_ chunk: inout SecretBytes, from offset: Int) {
        unsafe chunk.withUnsafeMutableBytes { buffer in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
            _ = unsafe rest.initializeMemory(as: UInt8.self, repeating: 0)
        }
    }
}

/// A plan to read a range of a file.
package struct ReadPlan: Sendable {
    let content: OpenedContent
    /// The range, within the file.
    package let range: Range<Int64>
    /// The places of the chunks of the range, in order.
    let sources: [ChunkSource]

    /// Decrypts the chunks and passes the plaintext on: only authenticated bytes are passed on.
    ///
    /// - Parameter output: Called with the plaintext.
    /// - Throws: `decode` if the content is damaged, `interactionNotAllowed` if the vault was locked meanwhile, `io`.
    package func perform(to output: (RawSpan) throws -> Void) throws(CofferError) {
        do { try open(to: output) } catch { throw transferError(error, content.key, content.subject, for: .read) }
    }

    /// Decrypts the intact chunks, and passes on zeros for the others.
    ///
    /// - Parameter output: Called with the plaintext.
    /// - Returns: The ranges that can't be read.
    /// - Throws: As ``perform(to:)``, except `decode`.
    package func salvage(to output: (RawSpan) throws -> Void) throws(CofferError) -> [Range<Int64>] {
        var damages: [Range<Int64>] = []
        do {
            try open(onDamage: { damages.append($0) }, to: output)
        } catch {
            throw transferError(error, content.key, content.subject, for: .read)
        }
        return damages
    }

    /// Decrypts the chunks, and passes nothing on.
    ///
    /// - Returns: The ranges that can't be read; that of an empty file is empty. `nil` if the vault was locked meanwhile.
    /// - Throws: As ``perform(to:)``, except `decode`.
    package func findDamage() throws(CofferError) -> [Range<Int64>]? {
        var damages: [Range<Int64>] = []
        do {
            try checkEmptiness()
            try open(skipsHoles: true, onDamage: { damages.append($0) }, to: { _ in })
            return damages
        } catch is ContentFormat.Finding {
            return [range]
        } catch {
            if content.key.isRevoked { return nil }
            throw transferError(error, content.key, content.subject, for: .read)
        }
    }

    /// Decrypts the chunk that proves that a content is empty.
    private func checkEmptiness() throws {
        guard range.isEmpty, let base = content.base, base.byteCount == 0 else { return }
        var sealed = [UInt8](repeating: 0, count: CipherSuite.tagBytes)
        var chunk = try SecretBytes(zeros: 0)
        _ = try base.open(0, under: content.key, &sealed, &chunk)
    }

    /// - Parameters:
    ///   - waits: Whether it may block on the disk; if it would have to, ``NotCached``.
    ///   - skipsHoles: Whether nothing is passed on for holes.
    ///   - onDamage: Called for a chunk that can't be read, for which zeros are passed on; without it, damage is an
    ///     error.
    ///   - output: Called with the plaintext.
    private func open(
        waits: Bool = true,
        skipsHoles: Bool = false,
        onDamage: ((Range<Int64>) -> Void)? = nil,
        to output: (RawSpan) throws -> Void
    ) throws {
        if range.isEmpty { return }
        var chunk = try SecretBytes(zeros: Limits.chunkBytes)
        var sealed = [UInt8](repeating: 0, count: Limits.chunkBytes + CipherSuite.tagBytes)
        let first = range.lowerBound / Int64(Limits.chunkBytes)
        for (offset, source) in sources.enumerated() where !(skipsHoles && source == .hole) {
            let index = first + Int64(offset)
            let start = index * Int64(Limits.chunkBytes)
            let wanted = range.clamped(to: start..<(start + Int64(Limits.chunkBytes)))
            do {
                try content.open(source, at: index, &sealed, into: &chunk, waits: waits)
            } catch let error as ContentFormat.Finding {
                guard let onDamage else { throw error }
                onDamage(wanted)
                OpenedContent.wipe(&chunk, from: 0)
            }
            try chunk.withBytes { bytes in
                try output(bytes.extracting(Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start)))
            }
        }
    }

    /// Decrypts the range into memory.
    ///
    /// - Throws: As ``perform(to:)``.
    package func collect() throws(CofferError) -> SecretBytes {
        do {
            return try collect(waits: true)
        } catch {
            throw transferError(error, content.key, content.subject, for: .read)
        }
    }

    /// Decrypts the range into memory if that is quick, also on the event loop.
    ///
    /// - Returns: The plaintext; `nil` if it is large, or the read would block on the disk.
    /// - Throws: As ``perform(to:)``.
    package func collectIfCached() throws(CofferError) -> SecretBytes? {
        if sources.count > Self.chunksAtOnce { return nil }
        do {
            return try collect(waits: false)
        } catch is NotCached {
            return nil
        } catch {
            throw transferError(error, content.key, content.subject, for: .read)
        }
    }

    /// The maximum number of chunks that are decrypted while other requests wait: a small range may lie across two.
    static let chunksAtOnce = 2

    private func collect(waits: Bool) throws -> SecretBytes {
        var collected = try SecretBytes(zeros: range.count)
        var done = 0
        try open(
            waits: waits,
            to: { chunk in
                collected.copy(chunk, to: done)
                done += chunk.byteCount
            }
        )
        return collected
    }
}

/// The damaged parts of a file.
package struct Damages {
    /// Their ranges, up to a maximum number.
    package private(set) var parts: [Range<Int64>] = []
    package private(set) var byteCount: Int64 = 0

    package init() {}

    /// Adds a part that comes after the others; adjacent parts are merged.
    package mutating func join(_ part: Range<Int64>) {
        let isAllTold = parts.reduce(0) { $0 + Int64($1.count) } == byteCount
        byteCount += Int64(part.count)
        if isAllTold, let last = parts.last, last.upperBound == part.lowerBound {
            parts[parts.count - 1] = last.lowerBound..<part.upperBound
        } else if parts.count < Limits.pageItems {
            parts.append(part)
        }
    }
}

/// A plan to rewrite chunks into new slots.
package struct WritePlan: Sendable {
    struct Piece: Sendable {
        let index: Int64
        /// The current place of the chunk: it is read unless it is overwritten completely.
        let source: ChunkSource
        /// The new slot.
        let slot: Int64
        /// The range to overwrite, within the chunk.
        let range: Range<Int>
        /// The size of the chunk afterwards.
        let byteCount: Int
    }

    /// A chunk and its new slot.
    package struct Written: Sendable {
        let index: Int64
        let slot: ChunkSlot
    }

    let content: OpenedContent
    let pieces: [Piece]

    /// Seals the chunks into their slots; the catalog does not name them yet.
    ///
    /// - Parameter bytes: All bytes to be written.
    /// - Returns: The chunks and their slots.
    /// - Throws: `interactionNotAllowed` if the vault was locked meanwhile, `decode` if a chunk that is overwritten in
    ///   part is damaged, `diskFull`, `io`. What the catalog names is unchanged then.
    package func perform(_ bytes: borrowing SecretBytes?) throws(CofferError) -> [Written] {
        do {
            guard let overlay = content.overlay else { return [] }
            var chunk = try SecretBytes(zeros: Limits.chunkBytes)
            var sealed = [UInt8](repeating: 0, count: Limits.chunkBytes + CipherSuite.tagBytes)
            var done = 0
            var written: [Written] = []
            for piece in pieces {
                let isKept = piece.range.lowerBound > 0 || piece.range.upperBound < piece.byteCount
                try content.open(isKept ? piece.source : .hole, at: piece.index, &sealed, into: &chunk)
                Self.copy(bytes, from: done, into: &chunk, piece.range)
                done += piece.range.count
                try content.directory.fileSystem.willPerform(.write)
                let slot = try chunk.withBytes { plaintext in
                    try overlay.write(
                        plaintext.extracting(first: piece.byteCount),
                        at: piece.index,
                        into: piece.slot,
                        under: content.key
                    )
                }
                written.append(Written(index: piece.index, slot: slot))
            }
            return written
        } catch {
            throw transferError(error, content.key, content.subject, for: .write)
        }
    }

    private static func copy(
        _ bytes: borrowing SecretBytes?,
        from offset: Int,
        into chunk: inout SecretBytes,
        _ range: Range<Int>
    ) {
        switch bytes {
        case .none: return
        case .some(let bytes):
            bytes.withBytes { chunk.copy($0.extracting(offset..<(offset + range.count)), to: range.lowerBound) }
        }
    }
}

/// A plan to reserve disk space.
package struct AllocationPlan: Sendable {
    let content: OpenedContent
    let room: Range<Int64>

    /// Reserves the space.
    ///
    /// - Throws: `diskFull` if there is not enough, `io`.
    package func perform() throws(CofferError) {
        guard let overlay = content.overlay, !room.isEmpty else { return }
        do throws(SystemError) {
            try content.directory.fileSystem.willPerform(.write)
            try overlay.file.descriptor.reserve(Int64(room.count), at: room.lowerBound)
        } catch {
            throw error.cofferError("can't reserve room for \(content.subject)")
        }
    }
}

/// A plan to sync what the catalog is going to name.
package struct SyncPlan: Sendable {
    let content: OpenedContent
    let isStaged: Bool

    /// Syncs the chunks that were written.
    ///
    /// - Throws: `diskFull`, `io`.
    package func perform() throws(CofferError) {
        guard let overlay = content.overlay else { return }
        do throws(SystemError) {
            try content.directory.synchronizeOverlay(overlay.file.descriptor, isStaged: isStaged)
        } catch {
            throw error.cofferError("can't sync \(content.subject)")
        }
    }
}
