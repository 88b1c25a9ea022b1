package import CofferCore
internal import CofferCrypto
package import CofferMemory
internal import CofferSystem

/// What another thread needs of an open file: its key, and the two parts of its content.
final class OpenedContent: Sendable {
    let id: ItemID
    /// The name in quotes, for errors.
    let subject: String
    let key: ContentKey
    /// `nil` where the file was made through a handle.
    let base: BaseContent?
    /// `nil` where no chunk was rewritten yet, and none is to be.
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

    /// Opens a chunk whole.
    ///
    /// - Parameters:
    ///   - source: Where it is.
    ///   - index: Its place in the file.
    ///   - sealed: Room for a sealed chunk.
    ///   - chunk: Takes it, with zeros behind the bytes that it has; room for a chunk.
    ///   - waits: Whether the disk may be waited for.
    /// - Throws: ``ContentFormat/Finding`` where it is damaged; ``NotCached``.
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

/// Part of a file that is to be read, and where its chunks are.
package struct ReadPlan: Sendable {
    let content: OpenedContent
    /// The bytes: within the file.
    package let range: Range<Int64>
    /// Where the chunks are that the range lies in, the first one first.
    let sources: [ChunkSource]

    /// A part of the file that can't be read.
    package struct Damage: Sendable {
        /// The bytes.
        package let range: Range<Int64>
    }

    /// Opens the chunks and hands the plaintext over: nothing that is not authentic gets out.
    ///
    /// - Parameter output: Takes the plaintext.
    /// - Throws: `decode` where the content is damaged, `interactionNotAllowed` where the vault was locked meanwhile, `io`.
    package func perform(to output: (RawSpan) throws -> Void) throws(CofferError) {
        do { try open(to: output) } catch { throw transferError(error, content.key, content.subject, for: .read) }
    }

    /// Opens the chunks that are intact, and hands zeros over for the others.
    ///
    /// - Parameter output: Takes the plaintext.
    /// - Returns: What can't be read.
    /// - Throws: As ``perform(to:)``, but no `decode`.
    package func salvage(to output: (RawSpan) throws -> Void) throws(CofferError) -> [Damage] {
        var damages: [Damage] = []
        do {
            try open(onDamage: { damages.append(Damage(range: $0)) }, to: output)
        } catch {
            throw transferError(error, content.key, content.subject, for: .read)
        }
        return damages
    }

    /// - Parameters:
    ///   - waits: Whether the disk may be waited for; ``NotCached`` where it would have to.
    ///   - onDamage: Told of what can't be read, which is zeros then; if there is nobody to tell, it is an error.
    ///   - output: Takes the plaintext.
    private func open(
        waits: Bool = true,
        onDamage: ((Range<Int64>) -> Void)? = nil,
        to output: (RawSpan) throws -> Void
    ) throws {
        if range.isEmpty { return }
        var chunk = try SecretBytes(zeros: Limits.chunkBytes)
        var sealed = [UInt8](repeating: 0, count: Limits.chunkBytes + CipherSuite.tagBytes)
        let first = range.lowerBound / Int64(Limits.chunkBytes)
        for (offset, source) in sources.enumerated() {
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

    /// Opens the range into memory.
    ///
    /// - Returns: The plaintext.
    /// - Throws: As ``perform(to:)``.
    package func collect() throws(CofferError) -> SecretBytes {
        do {
            return try collect(waits: true)
        } catch {
            throw transferError(error, content.key, content.subject, for: .read)
        }
    }

    /// Opens the range into memory, if that is done at once: on the event loop, too.
    ///
    /// - Returns: The plaintext; `nil` where it is much, or the disk would have to be waited for.
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

    /// The most chunks that are opened while others wait: a part of a file may lie across two.
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

/// Chunks that are to be written anew, and the slots that they go to.
package struct WritePlan: Sendable {
    struct Piece: Sendable {
        let index: Int64
        /// Where the chunk is now: read unless all of it that counts is written over.
        let source: ChunkSource
        /// The slot that it goes to.
        let slot: Int64
        /// The bytes that are written over, within the chunk.
        let range: Range<Int>
        /// The bytes that the chunk has then.
        let byteCount: Int
    }

    /// Where a chunk is then.
    package struct Written: Sendable {
        let index: Int64
        let slot: ChunkSlot
    }

    let content: OpenedContent
    let pieces: [Piece]

    /// Seals the chunks into their slots; the catalog does not name them yet.
    ///
    /// - Parameter bytes: What is written, all of it.
    /// - Returns: Where the chunks are.
    /// - Throws: `interactionNotAllowed` where the vault was locked meanwhile, `decode` where a chunk that is written over in
    ///   part is damaged, `diskFull`, `io`. What the catalog names is as it was.
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
            bytes.withBytes { all in
                unsafe chunk.withUnsafeMutableBytes { buffer in
                    unsafe all.extracting(offset..<(offset + range.count)).withUnsafeBytes { source in
                        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[range]).copyMemory(from: source)
                    }
                }
            }
        }
    }
}

/// Room on the disk that is to be reserved.
package struct AllocationPlan: Sendable {
    let content: OpenedContent
    let room: Range<Int64>

    /// Reserves it.
    ///
    /// - Throws: `diskFull` where there is not so much, `io`.
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

/// What has to be on the disk before the catalog names it.
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
