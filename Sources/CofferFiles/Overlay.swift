internal import CofferCore
internal import CofferCrypto
internal import CofferMemory
internal import CofferSystem

/// A chunk that was rewritten: which slot of the overlay it is in, and the tag that it has to have there.
struct ChunkSlot: Equatable, Sendable {
    /// The slot, from 0.
    let number: Int64
    /// The bytes of its plaintext; behind them the chunk is zeros.
    let byteCount: Int
    let tag: [UInt8]
}

/// Where the plaintext of a chunk is.
enum ChunkSource: Equatable, Sendable {
    /// Nowhere: it is zeros, and costs nothing.
    case hole
    /// In the base, of whose chunk so many bytes count.
    case base(byteCount: Int)
    /// In the overlay.
    case slot(ChunkSlot)
    /// Nobody knows: its row is damaged.
    case lost

    /// The bytes behind which there are zeros.
    var byteCount: Int {
        switch self {
        case .hole, .lost: 0
        case .base(let byteCount): byteCount
        case .slot(let slot): slot.byteCount
        }
    }
}

/// The chunks of a content that were rewritten, each in a slot of a file beside the base.
///
/// A slot that the catalog names is never written again before the catalog has forgotten it: so a crash finds the old chunk or
/// the new one.
struct Overlay: Sendable {
    static let slotBytes = Int64(SlotCipher.saltBytes + Limits.chunkBytes)

    let file: ContentFile
    private let cipher: SlotCipher

    /// Looks at the header of an overlay.
    ///
    /// - Parameters:
    ///   - file: The overlay.
    ///   - id: The content that it is to belong to.
    ///   - salvaging: Whether what is wrong does not matter: each chunk is authentic or not.
    /// - Throws: ``ContentFormat/Finding`` where it is not that of the content.
    init(_ file: ContentFile, of id: ItemID, salvaging: Bool = false) throws {
        self.file = file
        if salvaging {
            cipher = try ContentFormat.salvage(try file.header(), .overlay, expecting: id).slotCipher
            return
        }
        cipher = try ContentFormat.read(try file.header(), .overlay, expecting: id).get().slotCipher
    }

    /// Begins the overlay of a content.
    init(making file: ContentFile, of id: ItemID) throws(SystemError) {
        let format = ContentFormat(.overlay, of: id, suite: .preferred)
        unsafe try file.descriptor.write(all: format.header.span.bytes, at: 0)
        self.file = file
        cipher = format.slotCipher
    }

    /// Where a slot begins on disk.
    static func offset(ofSlot number: Int64) -> Int64 { Int64(ContentFormat.headerBytes) + number * slotBytes }

    /// Seals a chunk into a slot.
    ///
    /// - Parameters:
    ///   - chunk: The plaintext.
    ///   - index: The place of the chunk in the file.
    ///   - number: The slot.
    ///   - key: The key of the content.
    /// - Returns: What the catalog has to know.
    func write(
        _ chunk: RawSpan,
        at index: Int64,
        into number: Int64,
        under key: ContentKey
    ) throws -> ChunkSlot {
        var sealed: [UInt8] = []
        try key.withKey { (key) throws(CryptoError) in sealed = try cipher.seal(chunk, at: UInt64(index), under: key) }
        let stored = sealed.count - CipherSuite.tagBytes
        unsafe try file.descriptor.write(
            all: sealed.span.bytes.extracting(first: stored),
            at: Self.offset(ofSlot: number)
        )
        return ChunkSlot(number: number, byteCount: chunk.byteCount, tag: Array(sealed[stored...]))
    }

    /// Opens a chunk.
    ///
    /// - Parameters:
    ///   - slot: Where it is.
    ///   - index: The place of the chunk in the file.
    ///   - key: The key of the content.
    ///   - plaintext: Takes the plaintext; room for a chunk.
    ///   - waits: Whether the disk may be waited for.
    /// - Throws: ``ContentFormat/Finding`` where it is not authentic; ``NotCached``.
    func open(
        _ slot: ChunkSlot,
        at index: Int64,
        under key: ContentKey,
        _ plaintext: inout SecretBytes,
        waits: Bool = true
    ) throws {
        let stored = SlotCipher.saltBytes + slot.byteCount
        var sealed = [UInt8](repeating: 0, count: stored) + slot.tag
        let found = unsafe try sealed.withUnsafeMutableBytes { buffer in
            unsafe try file.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<stored]),
                at: Self.offset(ofSlot: slot.number),
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
                        sealed.span.bytes,
                        at: UInt64(index),
                        under: key,
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<slot.byteCount])
                    )
                }
            }
        } catch is CryptoError {
            throw ContentFormat.Finding("chunk \(index) of its content is not authentic")
        }
    }
}
