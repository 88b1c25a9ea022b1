package import CofferMemory
internal import CSodium

/// X25519: key agreement, and wrapping keys to a public key: anyone can wrap, only the private key unwraps.
package enum KeyAgreement {
    /// The size of a public key.
    package static let publicKeyBytes = Int(crypto_scalarmult_curve25519_BYTES)
    /// The size of a shared secret.
    package static let sharedSecretBytes = Int(crypto_scalarmult_curve25519_BYTES)
    /// The size of a key wrapped to a public key: the ephemeral public key, then the wrapped key.
    package static let wrappedBytes = publicKeyBytes + KeyWrap.wrappedBytes

    /// The public key of a private key.
    package static func publicKey(of privateKey: borrowing SymmetricKey) -> [UInt8] {
        Sodium.prepare()
        var result = [UInt8](repeating: 0, count: publicKeyBytes)
        unsafe privateKey.withPointer { scalar in _ = unsafe crypto_scalarmult_curve25519_base(&result, scalar) }
        return result
    }

    /// The secret that the owners of two key pairs share: the raw result of X25519.
    ///
    /// It is not a key yet: hash it.
    ///
    /// - Parameters:
    ///   - privateKey: The private key of one pair.
    ///   - peer: The public key of the other pair.
    /// - Returns: ``sharedSecretBytes`` bytes.
    /// - Throws: `unusableKey` if the peer's key does not have ``publicKeyBytes`` bytes, or is of low order, so that
    ///   the result would not be secret; `noMemory` if memory can't be locked.
    package static func sharedSecret(
        of privateKey: borrowing SymmetricKey,
        with peer: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        guard peer.count == publicKeyBytes else { throw .unusableKey }
        Sodium.prepare()
        var shared = try allocateSecret(sharedSecretBytes)
        let code = unsafe shared.withUnsafeMutableBytes { buffer in
            unsafe buffer.withPointer { output in
                unsafe privateKey.withPointer { scalar in unsafe crypto_scalarmult_curve25519(output, scalar, peer) }
            }
        }
        // A peer key of low order gives a shared secret of zeros, which libsodium reports.
        guard code == 0 else { throw .unusableKey }
        return shared
    }

    /// Wraps a key to a public key, with an ephemeral key pair.
    ///
    /// - Parameters:
    ///   - key: The key to wrap.
    ///   - publicKey: The public key of the pair that unwraps.
    ///   - purpose: The purpose of the wrapping; it must be the same for unwrapping.
    ///   - context: What the wrapped key belongs to; it must be the same for unwrapping.
    /// - Returns: ``wrappedBytes`` bytes.
    package static func wrap(
        _ key: borrowing SymmetricKey,
        to publicKey: [UInt8],
        for purpose: StaticString,
        context: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let ephemeral: SymmetricKey
        do { ephemeral = try SymmetricKey() } catch { throw .noMemory }
        let ephemeralPublic = self.publicKey(of: ephemeral)
        let wrapping = try wrappingKey(ephemeral, publicKey, from: ephemeralPublic, to: publicKey, purpose)
        return ephemeralPublic + KeyWrap.wrap(key, under: wrapping, context: context)
    }

    /// Unwraps a key.
    ///
    /// - Parameters:
    ///   - wrapped: The result of ``wrap(_:to:for:context:)``.
    ///   - privateKey: The private key of the pair to which it was wrapped.
    ///   - purpose: The same as for wrapping.
    ///   - context: The same as for wrapping.
    package static func unwrap(
        _ wrapped: RawSpan,
        with privateKey: borrowing SymmetricKey,
        for purpose: StaticString,
        context: [UInt8]
    ) throws(CryptoError) -> SymmetricKey {
        guard wrapped.byteCount == wrappedBytes else { throw .unauthentic }
        let ephemeralPublic = unsafe wrapped.extracting(first: publicKeyBytes).withUnsafeBytes { unsafe Array($0) }
        let receiver = publicKey(of: privateKey)
        let wrapping = try wrappingKey(privateKey, ephemeralPublic, from: ephemeralPublic, to: receiver, purpose)
        return try KeyWrap.unwrap(wrapped.extracting(droppingFirst: publicKeyBytes), under: wrapping, context: context)
    }

    /// Unwraps a key with a shared secret, where the private key is elsewhere.
    ///
    /// - Parameters:
    ///   - wrapped: The result of ``wrap(_:to:for:context:)``.
    ///   - shared: The secret that the private key shares with ``ephemeralKey(of:)``.
    ///   - publicKey: The public key of the pair to which it was wrapped.
    ///   - purpose: The same as for wrapping.
    ///   - context: The same as for wrapping.
    package static func unwrap(
        _ wrapped: [UInt8],
        sharing shared: consuming SecretBytes,
        of publicKey: [UInt8],
        for purpose: StaticString,
        context: [UInt8]
    ) throws(CryptoError) -> SymmetricKey {
        guard wrapped.count == wrappedBytes, let secret = SymmetricKey(shared) else { throw .unauthentic }
        let wrapping = try KeyedHash.key(under: secret, for: purpose, RawSpan(), ephemeralKey(of: wrapped) + publicKey)
        return try unsafe KeyWrap.unwrap(
            wrapped.span.bytes.extracting(droppingFirst: publicKeyBytes),
            under: wrapping,
            context: context
        )
    }

    /// The ephemeral public key of a wrapped key.
    package static func ephemeralKey(of wrapped: [UInt8]) -> [UInt8] { Array(wrapped.prefix(publicKeyBytes)) }

    /// The shared secret is hashed with both public keys, so that a wrapped key is valid for this pair of them only.
    private static func wrappingKey(
        _ privateKey: borrowing SymmetricKey,
        _ peer: [UInt8],
        from sender: [UInt8],
        to receiver: [UInt8],
        _ purpose: StaticString
    ) throws(CryptoError) -> SymmetricKey {
        let shared: SecretBytes
        do { shared = try sharedSecret(of: privateKey, with: peer) } catch {
            // The error must not reveal what was wrong with the wrapped key.
            throw error == .unusableKey ? .unauthentic : error
        }
        guard let secret = SymmetricKey(shared) else { throw .unauthentic }
        return try KeyedHash.key(under: secret, for: purpose, RawSpan(), sender + receiver)
    }
}
