package import CofferCore
internal import CofferCrypto
package import CofferMemory
internal import CofferSystem

/// What another thread needs of an open file: its key, and the two files of its content.
package final class OpenedContent: Sendable {
    package let id: ItemID
    /// The name in quotes, for errors.
    package let subject: String
    package let key: ContentKey
    /// The base; `nil` if the file was created through a handle.
    package let base: BaseContent?
    /// The overlay; `nil` if no chunk was rewritten, and none will be.
    package let overlay: Overlay?
    package let directory: ContentDirectory

    package init(
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

    /// The plaintext bytes of a full chunk of the file: that of the overlay, which may be smaller than those of the base.
    package var chunkBytes: Int { overlay?.chunkBytes ?? Limits.chunkBytes }

    /// The bytes of the disk that it takes; `nil` if the kernel does not tell.
    package var storedByteCount: Int64? {
        let base = base?.byteCount ?? 0
        guard let overlay else { return base }
        return (try? overlay.file.descriptor.status()).map { base + Overlay.storedByteCount($0) }
    }

    /// The sealed chunk in which a chunk of the file is, and its offset there.
    ///
    /// - Returns: `nil` for a hole.
    /// - Throws: ``ContentFormat/Finding`` if its place is unknown.
    func place(of source: ChunkSource, at index: Int64) throws -> (chunk: SealedChunk, offset: Int)? {
        switch source {
        case .hole: return nil
        case .base:
            let (chunk, offset) = (index * Int64(chunkBytes)).quotientAndRemainder(dividingBy: Int64(Limits.chunkBytes))
            return (.base(chunk), Int(offset))
        case .slot(let slot): return (.rewritten(slot, index), 0)
        case .lost: throw ContentFormat.Finding("a row of its chunks has impossible values")
        }
    }

    /// The plaintext bytes of a sealed chunk that is full.
    func byteCount(of chunk: SealedChunk) -> Int {
        switch chunk {
        case .base: Limits.chunkBytes
        case .rewritten: chunkBytes
        }
    }

    /// The size of a buffer for a chunk: one of the two that are cheap to allocate.
    static func bufferBytes(for byteCount: Int) -> Int { byteCount <= 4096 ? byteCount : Limits.chunkBytes }

    /// Decrypts a sealed chunk.
    ///
    /// - Parameters:
    ///   - chunk: The chunk.
    ///   - sealed: A buffer for its ciphertext, which grows as needed.
    ///   - plaintext: The buffer for the plaintext.
    ///   - waits: Whether it may block on the disk.
    /// - Throws: ``ContentFormat/Finding`` if it is damaged; ``NotCached``.
    func open(
        _ chunk: SealedChunk,
        _ sealed: inout [UInt8],
        into plaintext: inout SecretBytes,
        waits: Bool
    ) throws {
        switch chunk {
        case .base(let index):
            guard let base else { throw ContentFormat.Finding("its content is missing") }
            _ = try base.open(index, under: key, &sealed, &plaintext, waits: waits)
        case .rewritten(let slot, let index):
            guard let overlay else { throw ContentFormat.Finding("the chunks that were rewritten are missing") }
            try overlay.open(slot, at: index, under: key, &sealed, &plaintext, waits: waits)
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

    package init(content: OpenedContent, range: Range<Int64>, sources: [ChunkSource]) {
        self.content = content
        self.range = range
        self.sources = sources
    }

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
    ///   - reader: What opens the chunks.
    ///   - waits: Whether it may block on the disk; if it would have to, ``NotCached``.
    ///   - skipsHoles: Whether nothing is passed on for holes.
    ///   - onDamage: Called for a chunk that can't be read, for which zeros are passed on; without it, damage is an
    ///     error.
    ///   - output: Called with the plaintext.
    private func open(
        with reader: ChunkReader = ChunkReader(),
        waits: Bool = true,
        skipsHoles: Bool = false,
        onDamage: ((Range<Int64>) -> Void)? = nil,
        to output: (RawSpan) throws -> Void
    ) throws {
        if range.isEmpty { return }
        let chunkBytes = Int64(content.chunkBytes)
        let first = range.lowerBound / chunkBytes
        for (offset, source) in sources.enumerated() where !(skipsHoles && source == .hole) {
            let index = first + Int64(offset)
            let start = index * chunkBytes
            let wanted = range.clamped(to: start..<(start + chunkBytes))
            do {
                try reader.read(
                    Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start),
                    from: source,
                    at: index,
                    of: content,
                    waits: waits,
                    to: output
                )
            } catch let error as ContentFormat.Finding {
                guard let onDamage else { throw error }
                onDamage(wanted)
                try reader.passZeros(wanted.count, to: output)
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
    /// - Parameter reader: What opens the chunks, and keeps some.
    /// - Returns: The plaintext; `nil` if it is large, or the read would block on the disk.
    /// - Throws: As ``perform(to:)``.
    package func collectIfCached(with reader: ChunkReader) throws(CofferError) -> SecretBytes? {
        if sources.count * content.chunkBytes > Self.chunksAtOnce * Limits.chunkBytes { return nil }
        do {
            return try collect(with: reader, waits: false)
        } catch is NotCached {
            return nil
        } catch {
            throw transferError(error, content.key, content.subject, for: .read)
        }
    }

    /// The maximum number of chunks that are decrypted while other requests wait: a small range may lie across two.
    static let chunksAtOnce = 2

    private func collect(with reader: ChunkReader = ChunkReader(), waits: Bool) throws -> SecretBytes {
        var collected = try SecretBytes(zeros: range.count)
        if range.isEmpty { return collected }
        let chunkBytes = Int64(content.chunkBytes)
        var start = range.lowerBound / chunkBytes * chunkBytes
        for source in sources {
            let wanted = range.clamped(to: start..<(start + chunkBytes))
            let part = Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start)
            let place = Int(wanted.lowerBound - range.lowerBound)
            try reader.read(
                part,
                from: source,
                at: start / chunkBytes,
                of: content,
                waits: waits,
                into: &collected,
                at: place
            )
            start += chunkBytes
        }
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
    package struct Piece: Sendable {
        let index: Int64
        /// The current place of the chunk: it is read unless it is overwritten completely.
        let source: ChunkSource
        /// The new slot.
        package let slot: Int64
        /// The range to overwrite, within the chunk.
        let range: Range<Int>
        /// The size of the chunk afterwards.
        let byteCount: Int

        package init(index: Int64, source: ChunkSource, slot: Int64, range: Range<Int>, byteCount: Int) {
            self.index = index
            self.source = source
            self.slot = slot
            self.range = range
            self.byteCount = byteCount
        }
    }

    /// A chunk and its new slot.
    package struct Written: Sendable {
        package let index: Int64
        package let slot: ChunkSlot
    }

    let content: OpenedContent
    package let pieces: [Piece]

    package init(content: OpenedContent, pieces: [Piece]) {
        self.content = content
        self.pieces = pieces
    }

    /// How many bytes it writes.
    package var byteCount: Int { pieces.reduce(0) { $0 + $1.range.count } }

    /// Seals the chunks into their slots; the catalog does not name them yet.
    ///
    /// - Parameter bytes: All bytes to be written.
    /// - Returns: The chunks and their slots.
    /// - Throws: `interactionNotAllowed` if the vault was locked meanwhile, `decode` if a chunk that is overwritten in
    ///   part is damaged, `diskFull`, `io`. What the catalog names is unchanged then.
    package func perform(_ bytes: borrowing SecretBytes?) throws(CofferError) -> [Written] {
        do {
            return try write(bytes, with: ChunkReader(), waits: true)
        } catch {
            throw transferError(error, content.key, content.subject, for: .write)
        }
    }

    /// Seals the chunks into their slots if that is quick, also on the event loop: the kernel takes them into its
    /// cache, and a switch of threads would cost more.
    ///
    /// - Parameters:
    ///   - bytes: All bytes to be written.
    ///   - reader: What opens the chunks that are overwritten in part, and keeps some.
    /// - Returns: The chunks and their slots; `nil` if it is much, or a chunk would have to be read from the disk.
    /// - Throws: As ``perform(_:)``.
    package func performIfCached(
        _ bytes: borrowing SecretBytes?,
        with reader: ChunkReader
    ) throws(CofferError) -> [Written]? {
        if pieces.reduce(0, { $0 + $1.byteCount }) > Limits.writeAtOnceBytes { return nil }
        do {
            return try write(bytes, with: reader, waits: false)
        } catch is NotCached {
            return nil
        } catch {
            throw transferError(error, content.key, content.subject, for: .write)
        }
    }

    private func write(_ bytes: borrowing SecretBytes?, with reader: ChunkReader, waits: Bool) throws -> [Written] {
        guard let overlay = content.overlay else { return [] }
        var done = 0
        var written: [Written] = []
        var slots = AdjacentSlots(overlay, of: content)
        for piece in pieces {
            let part = done..<(done + piece.range.count)
            done = part.upperBound
            func seal(_ plaintext: RawSpan) throws {
                let sealed = try overlay.seal(plaintext, at: piece.index, for: piece.slot, under: content.key)
                try slots.add(sealed.stored, at: piece.slot)
                written.append(Written(index: piece.index, slot: sealed.slot))
            }
            if piece.range == 0..<piece.byteCount {
                try Self.withPart(part, of: bytes, seal)
            } else {
                var chunk = try SecretBytes(zeros: OpenedContent.bufferBytes(for: overlay.chunkBytes))
                var filled = 0
                try reader.read(
                    0..<piece.byteCount,
                    from: piece.source,
                    at: piece.index,
                    of: content,
                    waits: waits,
                    to: { part in
                        chunk.copy(part, to: filled)
                        filled += part.byteCount
                    }
                )
                try Self.withPart(part, of: bytes) { chunk.copy($0, to: piece.range.lowerBound) }
                try chunk.withBytes { try seal($0.extracting(first: piece.byteCount)) }
            }
        }
        try slots.write()
        return written
    }

    private static func withPart(
        _ range: Range<Int>,
        of bytes: borrowing SecretBytes?,
        _ body: (RawSpan) throws -> Void
    ) throws {
        switch bytes {
        case .none: return
        case .some(let bytes): try bytes.withBytes { try body($0.extracting(range)) }
        }
    }
}

/// A plan to sync what the catalog is going to name.
package struct SyncPlan: Sendable {
    let content: OpenedContent
    let isStaged: Bool

    package init(content: OpenedContent, isStaged: Bool) {
        self.content = content
        self.isStaged = isStaged
    }

    /// Syncs what several plans sync; if they are many, by one call for all of them.
    ///
    /// - Returns: For each plan whether that has succeeded.
    package static func perform(_ plans: [SyncPlan]) -> [Bool] {
        if plans.count >= Limits.syncsAtOnce, let directory = plans.first?.content.directory,
            plans.allSatisfy({ $0.content.directory === directory }), (try? directory.synchronizeAll()) != nil
        {
            return plans.map { _ in true }
        }
        // One that fails leaves the others as they are.
        return plans.map { (try? $0.perform()) != nil }
    }

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
