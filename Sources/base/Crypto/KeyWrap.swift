package import CofferMemory

/// Wrapping keys under keys.
package enum KeyWrap {
    /// The size of a wrapped key.
    package static let wrappedBytes = SymmetricKey.byteCount + AEAD.overhead

    /// Wraps a key.
    ///
    /// - Parameters:
    ///   - key: The key to wrap.
    ///   - wrapping: The key to wrap it under.
    ///   - context: What the wrapped key belongs to; it must be the same for unwrapping.
    /// - Returns: ``wrappedBytes`` bytes.
    package static func wrap(
        _ key: borrowing SymmetricKey,
        under wrapping: borrowing SymmetricKey,
        context: [UInt8]
    ) -> [UInt8] {
        key.bytes.withBytes { AEAD.seal($0, under: wrapping, context: context) }
    }

    /// Unwraps a key.
    ///
    /// - Parameters:
    ///   - wrapped: The result of ``wrap(_:under:context:)``.
    ///   - wrapping: The key under which it was wrapped.
    ///   - context: The same as for wrapping.
    package static func unwrap(
        _ wrapped: RawSpan,
        under wrapping: borrowing SymmetricKey,
        context: [UInt8]
    ) throws(CryptoError) -> SymmetricKey {
        guard let key = SymmetricKey(try AEAD.open(wrapped, under: wrapping, context: context)) else {
            throw .unauthentic
        }
        return key
    }
}
