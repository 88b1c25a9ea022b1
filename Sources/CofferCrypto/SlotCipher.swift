package import CofferMemory

/// The seal of chunks that are rewritten: each writing has a key of its own, of the file's key and a random salt.
///
/// So no nonce can come twice under a key, whatever is rewritten, undone by a crash, or put back by somebody. The tag is kept
/// elsewhere, with what says which chunk lies in which slot: an older chunk in its old place is not the one that is named.
package struct SlotCipher: Sendable {
    /// The bytes of the salt in front of the ciphertext.
    package static let saltBytes = 16

    private let cipher: ChunkCipher

    /// Makes the cipher of one content.
    ///
    /// - Parameters:
    ///   - suite: The suite: one that is available.
    ///   - context: What the chunks belong to.
    package init(suite: CipherSuite, context: [UInt8]) { cipher = ChunkCipher(suite: suite, header: context) }

    /// The suite.
    package var suite: CipherSuite { cipher.suite }

    /// Seals a chunk.
    ///
    /// - Parameters:
    ///   - chunk: The plaintext.
    ///   - index: Its place in the file, from 0.
    ///   - key: The file's key.
    /// - Returns: The salt, the ciphertext and the tag, one behind the other.
    package func seal(
        _ chunk: RawSpan,
        at index: UInt64,
        under key: borrowing SymmetricKey
    ) throws(CryptoError) -> [UInt8] {
        let salt = randomBytes(Self.saltBytes)
        let chunkKey = try Self.key(of: salt, under: key)
        var sealed = salt + [UInt8](repeating: 0, count: chunk.byteCount + CipherSuite.tagBytes)
        let cipher = cipher
        unsafe sealed.withUnsafeMutableBytes { buffer in
            unsafe cipher.seal(
                chunk,
                at: index,
                isLast: false,
                under: chunkKey,
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[Self.saltBytes...])
            )
        }
        return sealed
    }

    /// Checks and opens a chunk.
    ///
    /// - Parameters:
    ///   - sealed: The salt, the ciphertext and the tag.
    ///   - index: Its place in the file, from 0.
    ///   - key: The file's key.
    ///   - output: Takes the plaintext.
    /// - Throws: `unauthentic` where anything differs from sealing; `output` is then zero.
    package func open(
        _ sealed: RawSpan,
        at index: UInt64,
        under key: borrowing SymmetricKey,
        into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        guard sealed.byteCount >= Self.saltBytes else { throw .unauthentic }
        let salt = unsafe sealed.extracting(first: Self.saltBytes).withUnsafeBytes { unsafe Array($0) }
        let chunkKey = try Self.key(of: salt, under: key)
        unsafe try cipher.open(
            sealed.extracting(droppingFirst: Self.saltBytes),
            at: index,
            isLast: false,
            under: chunkKey,
            into: output
        )
    }

    private static func key(of salt: [UInt8], under key: borrowing SymmetricKey) throws(CryptoError) -> SymmetricKey {
        try KeyedHash.key(under: key, for: "coffer chunk key v1", RawSpan(), salt)
    }
}
