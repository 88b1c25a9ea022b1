package import CofferCore
package import CofferMemory
internal import CSodium

/// An Ed25519 key pair, for signing.
package struct SigningKey: ~Copyable, Sendable {
    /// The size of a seed, which is all that is stored of a private key.
    package static let seedBytes = Int(crypto_sign_ed25519_SEEDBYTES)
    /// The size of a public key.
    package static let publicKeyBytes = Int(crypto_sign_ed25519_PUBLICKEYBYTES)
    /// The size of a signature.
    package static let signatureBytes = Int(crypto_sign_ed25519_BYTES)

    /// The public key: ``publicKeyBytes`` bytes.
    package let publicKey: [UInt8]

    /// The seed and the public key, in libsodium's format.
    private let secretKey: SecretBytes

    /// Creates the pair of a seed.
    ///
    /// - Parameter seed: Exactly ``seedBytes`` random bytes; any other number gives `nil`.
    /// - Throws: `noMemory` if the memory of the private key can't be locked.
    package init?(seed: borrowing SecretBytes) throws(CryptoError) {
        guard seed.count == Self.seedBytes else { return nil }
        Sodium.prepare()
        var secretKey = try allocateSecret(Int(crypto_sign_ed25519_SECRETKEYBYTES))
        var publicKey = [UInt8](repeating: 0, count: Self.publicKeyBytes)
        let code = clearingUp {
            unsafe secretKey.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { output in
                    seed.withBytes { bytes in
                        unsafe bytes.withPointer { unsafe crypto_sign_ed25519_seed_keypair(&publicKey, output, $0) }
                    }
                }
            }
        }
        precondition(code == 0, "every seed has a pair")
        self.publicKey = publicKey
        self.secretKey = secretKey
    }

    /// Signs a message.
    ///
    /// - Parameter message: The message itself, not a hash of it.
    /// - Returns: ``signatureBytes`` bytes, the same each time.
    package borrowing func signature(of message: RawSpan) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Self.signatureBytes)
        let code = clearingUp {
            secretKey.withBytes { bytes in
                unsafe bytes.withPointer { key in
                    unsafe message.withPointer { start in
                        unsafe crypto_sign_ed25519_detached(&signature, nil, start, UInt64(message.byteCount), key)
                    }
                }
            }
        }
        precondition(code == 0, "signing has no way to fail")
        return signature
    }

    /// Verifies a signature.
    ///
    /// - Parameters:
    ///   - signature: The signature.
    ///   - message: The message.
    ///   - publicKey: The public key of the pair that signed.
    /// - Returns: Whether it is valid; `false` as well for a key or a signature of a wrong length, a second encoding of
    ///   a signature, and a key of low order, under which any signature would be valid.
    package static func isValid(_ signature: [UInt8], of message: RawSpan, by publicKey: [UInt8]) -> Bool {
        guard signature.count == signatureBytes, publicKey.count == publicKeyBytes else { return false }
        Sodium.prepare()
        let code = unsafe message.withPointer { start in
            unsafe crypto_sign_ed25519_verify_detached(signature, start, UInt64(message.byteCount), publicKey)
        }
        return code == 0
    }
}

extension KeyType {
    /// The public key of a private key of this type.
    ///
    /// - Parameter privateKey: The seed of an Ed25519 pair, or the scalar of an X25519 pair.
    /// - Returns: 32 bytes.
    /// - Throws: `noMemory` if memory can't be locked.
    package func publicKey(of privateKey: borrowing SymmetricKey) throws(CryptoError) -> [UInt8] {
        switch self {
        case .x25519: return KeyAgreement.publicKey(of: privateKey)
        case .ed25519:
            guard let pair = try SigningKey(seed: privateKey.bytes) else { throw .unusableKey }
            return pair.publicKey
        }
    }
}

/// The hash that a key and the certificates of its public key share: SHA-256.
///
/// - Parameter publicKey: The public key as in a certificate, in the BIT STRING of the SubjectPublicKeyInfo: the 32 raw
///   bytes of an Ed25519 or X25519 key.
/// - Returns: 32 bytes.
package func publicKeyHash(of publicKey: [UInt8]) -> [UInt8] { sha256(publicKey) }

/// The SHA-256 of bytes that are not secret: 32 bytes.
package func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_BYTES))
    let code = unsafe crypto_hash_sha256(&hash, bytes, UInt64(bytes.count))
    precondition(code == 0, "hashing has no way to fail")
    return hash
}
