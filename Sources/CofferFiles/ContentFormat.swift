package import CofferCore
internal import CofferCrypto

/// The layout of a file's content on disk: a header of 32 bytes, then sealed chunks, or slots of chunks that were rewritten.
///
/// proto-docs/FORMATS.md has the table.
package struct ContentFormat {
    static let headerBytes = 32
    private static let version: UInt16 = 1
    private static let chunkExponent: UInt8 = 16

    /// The two parts that a content may have.
    package enum Part: String {
        /// What was written once, from its beginning to its end.
        case base = "COFFERFS"
        /// Chunks that were rewritten.
        case overlay = "COFFEROV"
    }

    let suite: CipherSuite
    /// Its bytes.
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

    /// Reads a header and checks that it belongs to the content that the catalog names.
    ///
    /// - Parameters:
    ///   - header: The bytes.
    ///   - part: Which part has to begin with it.
    ///   - id: The content.
    /// - Returns: What is wrong, in words, where something is.
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

    /// The format that a content must have had, whatever its header has become: nothing but the suite is not known beforehand.
    static func salvage(_ header: [UInt8], _ part: Part, expecting id: ItemID) throws(Finding) -> ContentFormat {
        let suite = CipherSuite(rawValue: header[10]) ?? .preferred
        guard suite.isAvailable else { throw Finding("this machine does not have its cipher") }
        return ContentFormat(part, of: id, suite: suite)
    }

    /// What was found wrong with a content.
    package struct Finding: Error {
        let words: String
        init(_ words: String) { self.words = words }
    }

    // MARK: Sizes

    private static let sealedChunkBytes = Int64(Limits.chunkBytes + CipherSuite.tagBytes)

    /// The chunks of a content: one at least, so that an empty file is authenticated too.
    package static func chunkCount(ofPlaintext count: Int64) -> Int64 {
        max(1, (count + Int64(Limits.chunkBytes) - 1) / Int64(Limits.chunkBytes))
    }

    /// The bytes on disk of a content.
    package static func storedByteCount(ofPlaintext count: Int64) -> Int64 {
        Int64(headerBytes) + count + chunkCount(ofPlaintext: count) * Int64(CipherSuite.tagBytes)
    }

    /// Where a chunk begins on disk.
    package static func offset(ofChunk index: Int64) -> Int64 { Int64(headerBytes) + index * sealedChunkBytes }

    /// The plaintext bytes of a chunk.
    package static func plaintextByteCount(ofChunk index: Int64, in count: Int64) -> Int {
        Int(min(Int64(Limits.chunkBytes), count - index * Int64(Limits.chunkBytes)))
    }
}
