internal import CofferCore
package import CofferMemory
internal import CSodium

/// XChaCha20-Poly1305 with a random 192-bit nonce before the ciphertext: for keys, metadata and small secrets.
///
/// Random nonces of that length do not repeat in any practical number of messages, so that no counter must survive a
/// crash. Source: libsodium, `crypto_aead_xchacha20poly1305_ietf_*`.
package enum AEAD {
    private static let nonceBytes = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
    /// The size of the nonce and the tag, which are added to the plaintext.
    package static let overhead = nonceBytes + Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)

    /// Encrypts and authenticates.
    ///
    /// - Parameters:
    ///   - plaintext: The bytes to encrypt.
    ///   - key: The key.
    ///   - context: Associated data, which must be the same for opening.
    /// - Returns: `overhead` bytes more than the plaintext.
    package static func seal(_ plaintext: RawSpan, under key: borrowing SymmetricKey, context: [UInt8]) -> [UInt8] {
        Sodium.prepare()
        let count = plaintext.byteCount + overhead
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            guard let start = output.baseAddress else { return }
            unsafe randombytes_buf(start, nonceBytes)
            unsafe plaintext.withPointer { message in
                unsafe key.withPointer { rawKey in
                    _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                        start + nonceBytes,
                        nil,
                        message,
                        UInt64(plaintext.byteCount),
                        context,
                        UInt64(context.count),
                        nil,
                        start,
                        rawKey
                    )
                }
            }
            initialized = count
        }
    }

    /// Checks and decrypts.
    ///
    /// - Parameters:
    ///   - sealed: The result of ``seal(_:under:context:)``.
    ///   - key: The key.
    ///   - context: The same as for sealing.
    /// - Returns: The plaintext.
    package static func open(
        _ sealed: RawSpan,
        under key: borrowing SymmetricKey,
        context: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        guard sealed.byteCount >= overhead else { throw .unauthentic }
        var plaintext = try allocateSecret(sealed.byteCount - overhead)
        let isAuthentic = unsafe plaintext.withUnsafeMutableBytes { buffer in
            unsafe buffer.withPointer { output in
                unsafe sealed.withPointer { nonce in
                    unsafe key.withPointer { rawKey in
                        unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                            output,
                            nil,
                            nil,
                            nonce + nonceBytes,
                            UInt64(sealed.byteCount - nonceBytes),
                            context,
                            UInt64(context.count),
                            nonce,
                            rawKey
                        ) == 0
                    }
                }
            }
        }
        guard isAuthentic else { throw .unauthentic }
        return plaintext
    }
}
