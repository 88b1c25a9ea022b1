package import CofferCore
internal import CofferCrypto
internal import CofferMemory
package import CofferSystem
internal import Glibc

/// A content that was written once, in order, by a put.
package struct BaseContent: Sendable {
    let byteCount: Int64
    private let file: ContentFile
    private let format: ContentFormat

    /// Checks the size and the header of a content.
    ///
    /// - Parameters:
    ///   - file: The file of the content.
    ///   - id: The id that it must have.
    ///   - byteCount: The size that the catalog records.
    ///   - salvaging: Whether to ignore a wrong size or header: each chunk is authentic or not.
    /// - Throws: ``ContentFormat/Finding`` if they do not match.
    package init(_ file: ContentFile, _ id: ItemID, byteCount: Int64, salvaging: Bool = false) throws {
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

    /// Decrypts a chunk.
    ///
    /// - Parameters:
    ///   - index: The number of the chunk.
    ///   - key: The key of the content.
    ///   - sealed: A buffer for a sealed chunk, which grows as needed.
    ///   - plaintext: The buffer for the plaintext.
    ///   - place: The offset in that buffer, at which a chunk must fit.
    ///   - waits: Whether it may block on the disk.
    /// - Returns: The size of the plaintext.
    /// - Throws: ``ContentFormat/Finding`` if it is not authentic; ``NotCached``.
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
        if sealed.count < sealedCount { sealed += repeatElement(0, count: sealedCount - sealed.count) }
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

/// An open file of the store, which stays readable when it is replaced or removed.
package final class ContentFile: Sendable {
    let descriptor: OwnedDescriptor
    package init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Reads at an offset until the buffer is full or the file ends.
    ///
    /// - Parameters:
    ///   - buffer: The destination.
    ///   - offset: The offset in bytes.
    ///   - waits: Whether it may block on the disk.
    /// - Returns: The bytes read.
    /// - Throws: `SystemError`; ``NotCached`` if not all of it is in the page cache.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, waits: Bool) throws -> Int {
        if waits { return unsafe try descriptor.read(into: buffer, at: offset) }
        guard unsafe descriptor.readCached(into: buffer, at: offset) else { throw NotCached() }
        return buffer.count
    }

    /// The bytes of the header.
    func header() throws(SystemError) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: ContentFormat.headerBytes)
        let outcome = unsafe header.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try descriptor.read(into: buffer, at: 0) }
        }
        _ = try outcome.get()
        return header
    }
}

/// The read would block on the disk.
struct NotCached: Error {}
