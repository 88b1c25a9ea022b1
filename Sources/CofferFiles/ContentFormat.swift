package import CofferCore
internal import CofferCrypto

/// The layout of a file's content on disk: a header of 32 bytes, then sealed chunks, or slots of rewritten chunks.
///
/// proto-docs/FORMATS.md describes it.
package struct ContentFormat {
    static let headerBytes = 32
    private static let version: UInt16 = 1
    private static let chunkExponent: UInt8 = 16

    /// The two files that a content may have.
    package enum Part: String {
        /// The base, written once, in order.
        case base = "COFFERFS"
        /// The overlay, with rewritten chunks.
        case overlay = "COFFEROV"
    }

    let suite: CipherSuite
    /// The bytes of the header.
    package let header: [UInt8]

    /// The cipher of a base.
    var cipher: ChunkCipher { ChunkCipher(suite: suite, header: header) }

    /// The cipher of an overlay.
    var slotCipher: SlotCipher { SlotCipher(suite: suite, context: header) }

    /// The format of a new content.
    init(_ part: Part, of id: ItemID, suite: CipherSuite) {
        var writer = ByteWriter()
        writer.write(raw: part.rawValue.utf8)
        writer.write(Self.version)
        writer.write(suite.rawValue)
        writer.write(Self.chunkExponent)
        writer.write(UInt32(0))
        writer.write(raw: id.bytes)
        header = writer.bytes
        self.suite = suite
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
        let format = ContentFormat(part, of: id, suite: suite)
        guard format.header == header else {
            return .failure(Finding("its header is that of another content, or was changed"))
        }
        return .success(format)
    }

    /// The format that a content must have had, even if its header is damaged: only the suite is not known beforehand.
    static func salvage(_ header: [UInt8], _ part: Part, expecting id: ItemID) throws(Finding) -> ContentFormat {
        let suite = CipherSuite(rawValue: header[10]) ?? .preferred
        guard suite.isAvailable else { throw Finding("this machine does not have its cipher") }
        return ContentFormat(part, of: id, suite: suite)
    }

    /// What is wrong with a content.
    package struct Finding: Error {
        let words: String
        init(_ words: String) { self.words = words }
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
