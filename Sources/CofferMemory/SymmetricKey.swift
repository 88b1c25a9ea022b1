/// A secret key of 256 bits.
package struct SymmetricKey: ~Copyable, Sendable {
    /// The bytes of a key.
    package static let byteCount = 32

    /// The key itself, for the functions that use it.
    package let bytes: SecretBytes

    /// Makes a new random key.
    ///
    /// - Throws: ``SecretMemoryError`` where its memory can't be locked.
    package init() throws(SecretMemoryError) { bytes = try SecretBytes(random: Self.byteCount) }

    /// Takes key bytes over.
    package init?(_ bytes: consuming SecretBytes) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
