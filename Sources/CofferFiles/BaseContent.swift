internal import CofferCore
internal import CofferCrypto
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// A content that was written once, from its beginning to its end: what a put makes.
struct BaseContent: Sendable {
    let byteCount: Int64
    private let file: ContentFile
    private let format: ContentFormat

    /// Looks at the size and the header of a content.
    ///
    /// - Parameters:
    ///   - file: The content.
    ///   - id: Which it is to be.
    ///   - byteCount: The bytes that it has, as the catalog knows them.
    ///   - salvaging: Whether what is wrong does not matter: each chunk is authentic or not.
    /// - Throws: ``ContentFormat/Finding`` where it is not that.
    init(_ file: ContentFile, _ id: ItemID, byteCount: Int64, salvaging: Bool = false) throws {
        self.file = file
        self.byteCount = byteCount
        if salvaging {
            format = try ContentFormat.salvage(try file.header(), .base, expecting: id)
            return
        }
        let stored = Int64(try file.descriptor.status().st_size)
        let expected = ContentFormat.storedByteCount(ofPlaintext: byteCount)
        guard stored == expected else {
            throw ContentFormat.Finding("its content has \(stored) bytes on disk and not \(expected)")
        }
        format = try ContentFormat.read(try file.header(), .base, expecting: id).get()
    }

    /// Opens a chunk.
    ///
    /// - Parameters:
    ///   - index: Which.
    ///   - key: The key of the content.
    ///   - sealed: Room for a sealed chunk.
    ///   - plaintext: Takes the plaintext.
    ///   - place: Where in it; there is room for a chunk.
    ///   - waits: Whether the disk may be waited for.
    /// - Returns: The bytes of the plaintext.
    /// - Throws: ``ContentFormat/Finding`` where it is not authentic; ``NotCached``.
    func open(
        _ index: Int64,
        under key: ContentKey,
        _ sealed: inout [UInt8],
        _ plaintext: inout SecretBytes,
        at place: Int = 0,
        waits: Bool = true
    ) throws -> Int {
        let count = ContentFormat.plaintextByteCount(ofChunk: index, in: byteCount)
        let sealedCount = count + CipherSuite.tagBytes
        let isLast = index == ContentFormat.chunkCount(ofPlaintext: byteCount) - 1
        let found = unsafe try sealed.withUnsafeMutableBytes { buffer in
            unsafe try file.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<sealedCount]),
                at: ContentFormat.offset(ofChunk: index),
                waits: waits
            )
        }
        guard found == sealedCount else { throw ContentFormat.Finding("its content ends early") }
        do {
            try key.withKey { (key) in
                unsafe try plaintext.withUnsafeMutableBytes { (buffer) throws(CryptoError) in
                    unsafe try format.cipher.open(
                        sealed.span.bytes.extracting(first: sealedCount),
                        at: UInt64(index),
                        isLast: isLast,
                        under: key,
                        into: UnsafeMutableRawBufferPointer(rebasing: buffer[place..<(place + count)])
                    )
                }
            }
        } catch is CryptoError {
            throw ContentFormat.Finding("chunk \(index) of its content is not authentic")
        }
        return count
    }
}

/// An open file of the store: what is replaced or removed meanwhile is used to its end all the same.
final class ContentFile: Sendable {
    let descriptor: OwnedDescriptor
    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Reads at an offset until the buffer is full or the file ends.
    ///
    /// - Parameters:
    ///   - buffer: Where to.
    ///   - offset: Where from, in bytes.
    ///   - waits: Whether the disk may be waited for.
    /// - Returns: The bytes read.
    /// - Throws: `SystemError`; ``NotCached`` where not all of it can be had without waiting.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, waits: Bool) throws -> Int {
        if waits { return unsafe try descriptor.read(into: buffer, at: offset) }
        guard unsafe descriptor.readCached(into: buffer, at: offset) else { throw NotCached() }
        return buffer.count
    }

    /// The first bytes, as many as a header has.
    func header() throws(SystemError) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: ContentFormat.headerBytes)
        let outcome = unsafe header.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try descriptor.read(into: buffer, at: 0) }
        }
        _ = try outcome.get()
        return header
    }
}

/// The disk would have to be waited for.
struct NotCached: Error {}
