package import CofferMemory

/// The cipher for rewritten chunks: each write uses its own key, derived from the file's key and a random salt.
///
/// So no nonce repeats under a key, even if a chunk is rewritten, rolled back by a crash, or replaced by an attacker.
/// The tag is stored elsewhere, together with the slot of the chunk: an older chunk in the same slot does not match it.
package struct SlotCipher: Sendable {
    /// The size of the salt before the ciphertext.
    package static let saltBytes = 16

    private let cipher: ChunkCipher

    /// Creates the cipher of one content.
    ///
    /// - Parameters:
    ///   - suite: An available suite.
    ///   - context: What the chunks belong to.
    package init(suite: CipherSuite, context: [UInt8]) { cipher = ChunkCipher(suite: suite, header: context) }

    /// The suite.
    package var suite: CipherSuite { cipher.suite }

    /// Seals a chunk.
    ///
    /// - Parameters:
    ///   - chunk: The plaintext.
    ///   - index: Its number in the file, from 0.
    ///   - key: The file's key.
    /// - Returns: The salt, the ciphertext and the tag, concatenated.
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

    /// Verifies and decrypts a chunk.
    ///
    /// - Parameters:
    ///   - sealed: The salt, the ciphertext and the tag.
    ///   - index: Its number in the file, from 0.
    ///   - key: The file's key.
    ///   - output: The buffer for the plaintext.
    /// - Throws: `unauthentic` if anything differs from sealing; `output` is then zero.
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
