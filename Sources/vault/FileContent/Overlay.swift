package import CofferCore
internal import CofferCrypto
internal import CofferMemory
package import CofferSystem
internal import Glibc

/// A rewritten chunk: its slot in the overlay, and the tag that it must have there.
package struct ChunkSlot: Equatable, Sendable {
    /// The slot, from 0.
    package let number: Int64
    /// The size of its plaintext; the rest of the chunk is zeros.
    package let byteCount: Int
    package let tag: [UInt8]

    package init(number: Int64, byteCount: Int, tag: [UInt8]) {
        self.number = number
        self.byteCount = byteCount
        self.tag = tag
    }
}

/// The place of a chunk's plaintext.
package enum ChunkSource: Equatable, Sendable {
    /// A hole: zeros, which take no space.
    case hole
    /// The base; only so many bytes of the chunk count.
    case base(byteCount: Int)
    /// In the overlay.
    case slot(ChunkSlot)
    /// Unknown: its row is damaged.
    case lost

    /// The number of bytes after which the chunk is zeros.
    package var byteCount: Int {
        switch self {
        case .hole, .lost: 0
        case .base(let byteCount): byteCount
        case .slot(let slot): slot.byteCount
        }
    }
}

/// The rewritten chunks of a content, each in a slot of a file beside the base.
///
/// A slot that the catalog names is not written again before a committed transaction no longer names it, so that after
/// a crash there is the old chunk or the new one.
package struct Overlay: Sendable {
    package let file: ContentFile
    /// The plaintext bytes of a full chunk.
    let chunkBytes: Int
    private let cipher: SlotCipher

    /// Checks the header of an overlay.
    ///
    /// - Parameters:
    ///   - file: The overlay.
    ///   - id: The content to which it must belong.
    ///   - salvaging: Whether to ignore a wrong header: each chunk is authentic or not.
    /// - Throws: ``ContentFormat/Finding`` if it does not belong to the content.
    package init(_ file: ContentFile, of id: ItemID, salvaging: Bool = false) throws {
        let header = try file.header()
        let format =
            if salvaging {
                try ContentFormat.salvage(header, .overlay, expecting: id)
            } else {
                try ContentFormat.read(header, .overlay, expecting: id).get()
            }
        self.init(file, format)
    }

    /// Writes the header of an overlay that has no chunks.
    package init(making file: ContentFile, of id: ItemID, chunkBytes: Int = Limits.chunkBytes) throws(SystemError) {
        let format = ContentFormat(.overlay, of: id, suite: .preferred, chunkBytes: chunkBytes)
        unsafe try file.descriptor.write(all: format.header.span.bytes, at: 0)
        self.init(file, format)
    }

    private init(_ file: ContentFile, _ format: ContentFormat) {
        self.file = file
        chunkBytes = format.chunkBytes
        cipher = format.slotCipher
    }

    /// The offset of a slot on disk.
    func offset(ofSlot number: Int64) -> Int64 {
        Int64(ContentFormat.headerBytes) + number * Int64(SlotCipher.saltBytes + chunkBytes)
    }

    /// More slots than any overlay has.
    package static let slotBound = Limits.fileBytes / Int64(ContentFormat.chunkBytes(forWriting: 1))

    /// The number of slots that the file has, in use or not.
    ///
    /// - Throws: ``ContentFormat/Finding`` if there are more than any file has.
    package func slotCount() throws -> Int64 {
        let byteCount = Int64(try file.descriptor.status().st_size)
        guard byteCount <= offset(ofSlot: Self.slotBound) else {
            throw ContentFormat.Finding("its rewritten chunks have \(byteCount) bytes on disk, more than any file has")
        }
        let slotBytes = Int64(SlotCipher.saltBytes + chunkBytes)
        return (max(0, byteCount - Int64(ContentFormat.headerBytes)) + slotBytes - 1) / slotBytes
    }

    /// The bytes of the disk that an overlay takes with its slots.
    ///
    /// An overlay with slots takes one block at least: some file systems report no blocks for data that they have not placed
    /// yet, and archivers take a file without blocks for a single hole.
    static func storedByteCount(_ status: stat) -> Int64 {
        Int64(status.st_size) <= Int64(ContentFormat.headerBytes) ? 0 : max(1, Int64(status.st_blocks)) * 512
    }

    /// Seals a chunk for a slot.
    ///
    /// - Parameters:
    ///   - chunk: The plaintext.
    ///   - index: The number of the chunk in the file.
    ///   - number: The slot.
    ///   - key: The key of the content.
    /// - Returns: What the slot stores, and what the catalog must record.
    func seal(
        _ chunk: RawSpan,
        at index: Int64,
        for number: Int64,
        under key: ContentKey
    ) throws -> (stored: [UInt8], slot: ChunkSlot) {
        var sealed: [UInt8] = []
        try key.withKey { (key) throws(CryptoError) in sealed = try cipher.seal(chunk, at: UInt64(index), under: key) }
        let tag = Array(sealed[(sealed.count - CipherSuite.tagBytes)...])
        sealed.removeLast(CipherSuite.tagBytes)
        return (sealed, ChunkSlot(number: number, byteCount: chunk.byteCount, tag: tag))
    }

    /// Writes what slots store, from one slot on.
    func write(_ stored: [UInt8], at number: Int64) throws(SystemError) {
        unsafe try file.descriptor.write(all: stored.span.bytes, at: offset(ofSlot: number))
    }

    /// The bytes that a full slot stores.
    var slotBytes: Int { SlotCipher.saltBytes + chunkBytes }

    /// Decrypts a chunk.
    ///
    /// - Parameters:
    ///   - slot: Its slot.
    ///   - index: The number of the chunk in the file.
    ///   - key: The key of the content.
    ///   - sealed: A buffer for a sealed chunk, which grows as needed.
    ///   - plaintext: The buffer for the plaintext.
    ///   - place: The offset in that buffer, at which a chunk must fit.
    ///   - waits: Whether it may block on the disk.
    /// - Throws: ``ContentFormat/Finding`` if it is not authentic; ``NotCached``.
    func open(
        _ slot: ChunkSlot,
        at index: Int64,
        under key: ContentKey,
        _ sealed: inout [UInt8],
        _ plaintext: inout SecretBytes,
        at place: Int = 0,
        waits: Bool = true
    ) throws {
        guard slot.byteCount <= chunkBytes else {
            throw ContentFormat.Finding("a row of its chunks has impossible values")
        }
        let stored = SlotCipher.saltBytes + slot.byteCount
        let end = stored + slot.tag.count
        if sealed.count < end { sealed += repeatElement(0, count: end - sealed.count) }
        sealed.replaceSubrange(stored..<end, with: slot.tag)
        let found = unsafe try sealed.withUnsafeMutableBytes { buffer in
            unsafe try file.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<stored]),
                at: offset(ofSlot: slot.number),
                waits: waits
            )
        }
        guard found == stored else {
            throw ContentFormat.Finding("chunk \(index) of its content is missing")
        }
        do {
            try key.withKey { (key) in
                unsafe try plaintext.withUnsafeMutableBytes { (buffer) throws(CryptoError) in
                    unsafe try cipher.open(
                        sealed.span.bytes.extracting(first: end),
                        at: UInt64(index),
                        under: key,
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[place..<(place + slot.byteCount)])
                    )
                }
            }
        } catch is CryptoError {
            throw ContentFormat.Finding("chunk \(index) of its content is not authentic")
        }
    }
}
