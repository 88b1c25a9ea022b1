internal import CofferCore
internal import CofferMemory

/// A chunk as it is sealed on the disk: what can be opened at once.
enum SealedChunk: Equatable {
    /// A chunk of the base, by its number there.
    case base(Int64)
    /// A rewritten chunk, by its number in the file.
    case rewritten(ChunkSlot, Int64)
}

/// Opens chunks, and keeps those that it opened last, in locked memory, so that a client that reads a file in small
/// parts has each chunk opened once.
///
/// A chunk that is rewritten is another sealed chunk, so no kept one is ever out of date.
package final class ChunkReader {
    private final class Opened {
        let key: ContentKey
        let chunk: SealedChunk
        let plaintext: SecretBytes

        init(_ chunk: SealedChunk, under key: ContentKey, _ plaintext: consuming SecretBytes) {
            self.key = key
            self.chunk = chunk
            self.plaintext = plaintext
        }
    }

    private let capacity: Int
    /// The most recently used one is last.
    private var opened: [Opened] = []
    private var sealed: [UInt8] = []
    private var zeros: [UInt8] = []

    /// Creates a reader.
    ///
    /// - Parameter capacity: How many chunks it keeps.
    package init(keeping capacity: Int = 1) { self.capacity = capacity }

    /// How many chunks are kept.
    package var count: Int { opened.count }

    /// Wipes the kept chunks.
    package func forget() { opened = [] }

    /// Wipes the kept chunks of a content.
    package func forget(_ key: ContentKey) { opened.removeAll { $0.key === key } }

    /// Passes on a part of a chunk of a file, after the sealed chunk in which it is was authenticated.
    ///
    /// - Parameters:
    ///   - range: The part of the chunk.
    ///   - source: The place of the chunk.
    ///   - index: The number of the chunk in the file.
    ///   - content: The content of the file.
    ///   - waits: Whether it may block on the disk.
    ///   - output: Called with the plaintext, and then with the zeros behind it.
    /// - Throws: ``ContentFormat/Finding`` if the chunk is damaged, ``NotCached``; nothing was passed on then.
    func read(
        _ range: Range<Int>,
        from source: ChunkSource,
        at index: Int64,
        of content: OpenedContent,
        waits: Bool,
        to output: (RawSpan) throws -> Void
    ) throws {
        let filled = range.clamped(to: 0..<source.byteCount)
        if let (chunk, offset) = try content.place(of: source, at: index) {
            let opened = try open(chunk, of: content, waits: waits)
            if !filled.isEmpty {
                try opened.plaintext.withBytes { bytes in
                    try output(bytes.extracting((offset + filled.lowerBound)..<(offset + filled.upperBound)))
                }
            }
        }
        try passZeros(range.count - filled.count, to: output)
    }

    /// Copies a part of a chunk of a file into memory that is zero; a whole one is opened there, and not kept.
    ///
    /// - Parameters:
    ///   - range: The part of the chunk.
    ///   - source: The place of the chunk.
    ///   - index: The number of the chunk in the file.
    ///   - content: The content of the file.
    ///   - waits: Whether it may block on the disk.
    ///   - output: The memory.
    ///   - place: The offset there.
    /// - Throws: As the other one.
    func read(
        _ range: Range<Int>,
        from source: ChunkSource,
        at index: Int64,
        of content: OpenedContent,
        waits: Bool,
        into output: inout SecretBytes,
        at place: Int
    ) throws {
        if case .slot(let slot) = source, range.lowerBound == 0, range.upperBound >= slot.byteCount,
            let overlay = content.overlay, !opened.contains(where: { $0.chunk == .rewritten(slot, index) })
        {
            try overlay.open(slot, at: index, under: content.key, &sealed, &output, at: place, waits: waits)
            return
        }
        var done = place
        try read(range, from: source, at: index, of: content, waits: waits) { part in
            output.copy(part, to: done)
            done += part.byteCount
        }
    }

    /// Passes on zeros, for what has no content.
    func passZeros(_ count: Int, to output: (RawSpan) throws -> Void) throws {
        if count == 0 { return }
        if zeros.count < count { zeros = [UInt8](repeating: 0, count: count) }
        let zeros = zeros
        unsafe try output(zeros.span.bytes.extracting(first: count))
    }

    private func open(_ chunk: SealedChunk, of content: OpenedContent, waits: Bool) throws -> Opened {
        if let place = opened.lastIndex(where: { $0.key === content.key && $0.chunk == chunk }) {
            // After a lock nothing is passed on, and what is passed on counts as a use of the key.
            try content.key.withKey { _ in }
            if place < opened.count - 1 { opened.append(opened.remove(at: place)) }
            return opened[opened.count - 1]
        }
        if opened.count == capacity { opened.removeFirst() }
        let byteCount = content.byteCount(of: chunk)
        var plaintext = try SecretBytes(zeros: OpenedContent.bufferBytes(for: byteCount))
        try content.open(chunk, &sealed, into: &plaintext, waits: waits)
        let new = Opened(chunk, under: content.key, plaintext)
        opened.append(new)
        return new
    }
}
