internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// Sealed chunks that are written to the disk together.
struct SealedChunks: Sendable {
    static let pieceCount = 3
    private static let chunkCount = 4
    private static let byteCount = chunkCount * (Limits.chunkBytes + CipherSuite.tagBytes)

    private(set) var bytes: [UInt8] = []
    var count = 0
    /// Their offset on the disk.
    var offset: Int64 = 0

    /// The part of the file that ends among them, if the file is divided into parts of that size.
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
        // A small content does not allocate the whole buffer.
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

/// Consecutive chunks in plaintext.
struct OpenedChunks: ~Copyable, Sendable {
    static let pieceCount = 3
    /// The maximum number of chunks: the plaintext is in locked memory, which is scarce.
    static let pieceChunks = 2

    private var plaintext: SecretBytes
    private var sealed = [UInt8](repeating: 0, count: Limits.chunkBytes + CipherSuite.tagBytes)
    private var count = 0
    /// The range of the buffer that was requested.
    private var wanted = 0..<0
    /// The offset in the content at which they end.
    private(set) var end: Int64 = 0

    init(_ chunkCount: Int) throws { plaintext = try SecretBytes(zeros: chunkCount * Limits.chunkBytes) }

    var hasRoom: Bool { count + Limits.chunkBytes <= plaintext.count }

    mutating func empty() { (count, wanted) = (0, 0..<0) }

    /// Decrypts a chunk and appends it.
    ///
    /// - Parameters:
    ///   - base: The content.
    ///   - index: The number of the next chunk.
    ///   - key: The key of the content.
    ///   - range: The requested range of the content. Some of it is in the chunk, or the range is empty.
    ///   - waits: Whether it may block on the disk; if it would have to, ``NotCached``.
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

    /// Calls a closure with the requested bytes.
    func withBytes(_ body: (RawSpan) throws -> Void) throws {
        let wanted = wanted
        try plaintext.withBytes { try body($0.extracting(wanted)) }
    }
}
