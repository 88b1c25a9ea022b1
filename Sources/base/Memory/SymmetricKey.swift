/// A secret key of 256 bits.
package struct SymmetricKey: ~Copyable, Sendable {
    /// The size of a key.
    package static let byteCount = 32

    /// The bytes of the key, for the functions that use it.
    package let bytes: SecretBytes

    /// Creates a random key.
    ///
    /// - Throws: ``SecretMemoryError`` if its memory can't be locked.
    package init() throws(SecretMemoryError) { bytes = try SecretBytes(random: Self.byteCount) }

    /// Creates a key from its bytes; `nil` for a wrong size.
    package init?(_ bytes: consuming SecretBytes) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
