internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// Some chunks that are sealed, and go to the disk together.
struct SealedChunks: Sendable {
    static let pieceCount = 3
    private static let chunkCount = 4
    private static let byteCount = chunkCount * (Limits.chunkBytes + CipherSuite.tagBytes)

    private(set) var bytes: [UInt8] = []
    var count = 0
    /// Where they lie on the disk.
    var offset: Int64 = 0

    /// The part of the file that ends among them, where parts have so many bytes.
    func range(perPart byteCount: Int64) -> Range<Int64>? {
        let end = (offset + Int64(count)) / byteCount * byteCount
        return end > offset ? max(0, end - byteCount)..<end : nil
    }

    var hasRoom: Bool { count < Self.byteCount }

    mutating func append(
        _ chunk: borrowing SecretBytes,
        first byteCount: Int,
        at index: UInt64,
        isLast: Bool,
        under key: ContentKey,
        _ format: ContentFormat
    ) throws {
        let end = count + byteCount + CipherSuite.tagBytes
        // What a small content does not need is not made.
        if end > bytes.count {
            bytes += repeatElement(0, count: (isLast ? end : Self.byteCount) - bytes.count)
        }
        try key.withKey { (key) in
            chunk.withBytes { plaintext in
                unsafe bytes.withUnsafeMutableBytes { output in
                    unsafe format.cipher.seal(
                        plaintext.extracting(first: byteCount),
                        at: index,
                        isLast: isLast,
                        under: key,
                        into: UnsafeMutableRawBufferPointer(rebasing: output[count..<end])
                    )
                }
            }
        }
        count = end
    }
}

/// Some chunks that are opened, one behind the other.
struct OpenedChunks: ~Copyable, Sendable {
    static let pieceCount = 3
    /// The most chunks: all that is opened lies in locked memory, of which there is little.
    static let pieceChunks = 2

    private var plaintext: SecretBytes
    private var sealed = [UInt8](repeating: 0, count: Limits.chunkBytes + CipherSuite.tagBytes)
    private var count = 0
    /// The bytes that are wanted.
    private var wanted = 0..<0
    /// Where they end in the content.
    private(set) var end: Int64 = 0

    init(_ chunkCount: Int) throws { plaintext = try SecretBytes(zeros: chunkCount * Limits.chunkBytes) }

    var hasRoom: Bool { count + Limits.chunkBytes <= plaintext.count }

    mutating func empty() { (count, wanted) = (0, 0..<0) }

    /// Opens a chunk behind the others.
    ///
    /// - Parameters:
    ///   - base: The content.
    ///   - index: The chunk: the next one.
    ///   - key: The key of the content.
    ///   - range: The bytes of the content that are wanted; some of them are in the chunk, or none are wanted.
    ///   - waits: Whether the disk may be waited for; ``NotCached`` where it would have to.
    mutating func append(
        _ base: BaseContent,
        _ index: Int64,
        under key: ContentKey,
        _ range: Range<Int64>,
        waits: Bool = true
    ) throws {
        let opened = try base.open(index, under: key, &sealed, &plaintext, at: count, waits: waits)
        let start = index * Int64(Limits.chunkBytes)
        let first = max(range.lowerBound, start)
        let last = max(first, min(range.upperBound, start + Int64(opened)))
        let place = count + Int(first - start)
        wanted = (count == 0 ? place : wanted.lowerBound)..<(place + Int(last - first))
        end = last
        count += opened
    }

    /// Hands over what is wanted.
    func withBytes(_ body: (RawSpan) throws -> Void) throws {
        let wanted = wanted
        try plaintext.withBytes { try body($0.extracting(wanted)) }
    }
}
