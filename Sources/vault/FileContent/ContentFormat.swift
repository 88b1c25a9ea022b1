package import CofferCore
internal import CofferCrypto

/// The layout of a file's content on disk: a header of 32 bytes, then sealed chunks, or slots of rewritten chunks.
///
/// proto-docs/FORMATS.md describes it.
package struct ContentFormat {
    static let headerBytes = 32
    private static let version: UInt16 = 1
    private static let largestExponent: UInt8 = 16
    private static let smallestExponent: UInt8 = 12

    /// The two files that a content may have.
    package enum Part: String {
        /// The base, written once, in order.
        case base = "COFFERFS"
        /// The overlay, with rewritten chunks.
        case overlay = "COFFEROV"
    }

    let suite: CipherSuite
    /// The plaintext bytes of a full chunk: a power of two; ``Limits/chunkBytes`` in a base.
    let chunkBytes: Int
    /// The bytes of the header.
    package let header: [UInt8]

    /// The cipher of a base.
    var cipher: ChunkCipher { ChunkCipher(suite: suite, header: header) }

    /// The cipher of an overlay.
    var slotCipher: SlotCipher { SlotCipher(suite: suite, context: header) }

    /// The format of a new content.
    init(_ part: Part, of id: ItemID, suite: CipherSuite, chunkBytes: Int = Limits.chunkBytes) {
        let exponent = UInt8(chunkBytes.trailingZeroBitCount)
        var writer = ByteWriter()
        writer.write(raw: part.rawValue.utf8)
        writer.write(Self.version)
        writer.write(suite.rawValue)
        writer.write(exponent)
        // Salvage needs the chunk size, even if a byte of the header is damaged.
        let copies = repeatElement(exponent == Self.largestExponent ? 0 : exponent, count: Self.copyCount)
        writer.write(raw: copies)
        writer.write(raw: id.bytes)
        header = writer.bytes
        self.suite = suite
        self.chunkBytes = chunkBytes
    }

    private static let exponentOffset = 11
    private static let copyCount = 4

    private static func chunkBytes(_ exponent: UInt8, _ part: Part) -> Int? {
        let smallest = part == .base ? largestExponent : smallestExponent
        return (smallest...largestExponent).contains(exponent) ? 1 << Int(exponent) : nil
    }

    /// The chunk size of an overlay whose first write has a size: that write then seals hardly more than it was given.
    ///
    /// - Parameters:
    ///   - count: The bytes of the write.
    ///   - most: The largest size.
    package static func chunkBytes(forWriting count: Int, atMost most: Int = Limits.chunkBytes) -> Int {
        var bytes = 1 << Int(smallestExponent)
        while bytes < min(count, most) { bytes *= 2 }
        return bytes
    }

    /// Parses a header and checks that it belongs to the content that the catalog names.
    ///
    /// - Parameters:
    ///   - header: The bytes.
    ///   - part: The part that must begin with it.
    ///   - id: The id of the content.
    /// - Returns: The format, or what is wrong.
    package static func read(_ header: [UInt8], _ part: Part, expecting id: ItemID) -> Result<ContentFormat, Finding> {
        guard header.count == headerBytes, header.starts(with: part.rawValue.utf8) else {
            return .failure(Finding("it has no header"))
        }
        guard let suite = CipherSuite(rawValue: header[10]) else { return .failure(Finding("its cipher is unknown")) }
        guard suite.isAvailable else { return .failure(Finding("this machine does not have its cipher")) }
        guard let chunkBytes = chunkBytes(header[exponentOffset], part) else {
            return .failure(Finding("its chunk size is unknown"))
        }
        let format = ContentFormat(part, of: id, suite: suite, chunkBytes: chunkBytes)
        guard format.header == header else {
            return .failure(Finding("its header is that of another content, or was changed"))
        }
        return .success(format)
    }

    /// The format that a content must have had, even if its header is damaged: the suite and the chunk size are not
    /// known beforehand.
    static func salvage(_ header: [UInt8], _ part: Part, expecting id: ItemID) throws(Finding) -> ContentFormat {
        let suite = CipherSuite(rawValue: header[10]) ?? .preferred
        guard suite.isAvailable else { throw Finding("this machine does not have its cipher") }
        let copies = header[exponentOffset...(exponentOffset + copyCount)].sorted()
        let chunkBytes = chunkBytes(copies[copies.count / 2], part) ?? Limits.chunkBytes
        return ContentFormat(part, of: id, suite: suite, chunkBytes: chunkBytes)
    }

    /// What is wrong with a content.
    package struct Finding: Error {
        package let words: String
        package init(_ words: String) { self.words = words }
    }

    // MARK: Sizes

    private static let sealedChunkBytes = Int64(Limits.chunkBytes + CipherSuite.tagBytes)

    /// The number of chunks of a content: at least one, so that an empty file is authenticated too.
    package static func chunkCount(ofPlaintext count: Int64) -> Int64 {
        max(1, (count + Int64(Limits.chunkBytes) - 1) / Int64(Limits.chunkBytes))
    }

    /// The size of a content on disk.
    package static func storedByteCount(ofPlaintext count: Int64) -> Int64 {
        Int64(headerBytes) + count + chunkCount(ofPlaintext: count) * Int64(CipherSuite.tagBytes)
    }

    /// The offset of a chunk on disk.
    package static func offset(ofChunk index: Int64) -> Int64 { Int64(headerBytes) + index * sealedChunkBytes }

    /// The plaintext size of a chunk.
    package static func plaintextByteCount(ofChunk index: Int64, in count: Int64) -> Int {
        Int(min(Int64(Limits.chunkBytes), count - index * Int64(Limits.chunkBytes)))
    }
}
