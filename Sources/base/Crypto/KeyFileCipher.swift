package import CofferMemory
internal import CSodium

/// A cipher of the private keys of OpenSSH (`cipher.c` and `cipher-chachapoly.c`).
package enum KeyFileCipher: Sendable {
    /// A cipher of libcrypto in CTR or CBC, with blocks of 16 bytes.
    case blocks(String, keyBytes: Int)
    /// Triple DES in CBC.
    case tripleDES
    /// A cipher of libcrypto in GCM.
    case gcm(String, keyBytes: Int)
    /// ChaCha20 and Poly1305, as SSH has them: the key of the lengths is derived, and not used.
    case chaCha20Poly1305

    /// The size of the key.
    package var keyBytes: Int {
        switch self {
        case .blocks(_, let count), .gcm(_, let count): count
        case .tripleDES: 24
        case .chaCha20Poly1305: 64
        }
    }

    /// The size of the initialization vector, which is derived like the key, and follows it.
    package var vectorBytes: Int {
        switch self {
        case .blocks: 16
        case .tripleDES: 8
        case .gcm: 12
        case .chaCha20Poly1305: 0
        }
    }

    /// What the size of the ciphertext is a multiple of.
    package var blockBytes: Int {
        switch self {
        case .blocks, .gcm: 16
        case .tripleDES, .chaCha20Poly1305: 8
        }
    }

    /// The size of the tag; 0 for a cipher that does not authenticate.
    package var tagBytes: Int {
        switch self {
        case .blocks, .tripleDES: 0
        case .gcm, .chaCha20Poly1305: 16
        }
    }

    /// Decrypts a key.
    ///
    /// - Parameters:
    ///   - input: The ciphertext, in whole blocks.
    ///   - tag: The tag, of ``tagBytes``.
    ///   - key: The key, followed by the initialization vector.
    package func decrypt(
        _ input: RawSpan,
        tag: RawSpan,
        _ key: borrowing SecretBytes
    ) throws(EncryptedKey.Failure) -> SecretBytes {
        switch self {
        case .blocks(let name, let count): try EncryptedKey.decrypt(input, name, key, keyBytes: count)
        case .tripleDES: try EncryptedKey.decrypt(input, "DES-EDE3-CBC", key, keyBytes: keyBytes)
        case .gcm(let name, let count): try EncryptedKey.decrypt(input, name, key, keyBytes: count, tag: tag)
        case .chaCha20Poly1305: try Self.openChaCha20Poly1305(input, tag, key)
        }
    }

    /// Opens what packet 0 of SSH's `chacha20-poly1305@openssh.com` would be: the nonce is 0, the first block of the key
    /// stream has the key of the tag.
    private static func openChaCha20Poly1305(
        _ input: RawSpan,
        _ tag: RawSpan,
        _ key: borrowing SecretBytes
    ) throws(EncryptedKey.Failure) -> SecretBytes {
        let count = UInt64(input.byteCount)
        let nonce = [UInt8](repeating: 0, count: Int(crypto_stream_chacha20_NONCEBYTES))
        var output = try zeros(input.byteCount)
        var tagKey = try zeros(Int(crypto_onetimeauth_poly1305_KEYBYTES))
        unsafe stream(key) { key in
            unsafe tagKey.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { _ = unsafe crypto_stream_chacha20($0, UInt64(buffer.count), nonce, key) }
            }
        }
        let isAuthentic = tagKey.withBytes { tagKey in
            clearingUp {
                unsafe tagKey.withPointer { tagKey in
                    unsafe input.withPointer { input in
                        unsafe tag.withPointer { tag in
                            unsafe crypto_onetimeauth_poly1305_verify(tag, input, count, tagKey) == 0
                        }
                    }
                }
            }
        }
        guard isAuthentic else { throw .notOpened }
        unsafe stream(key) { key in
            unsafe output.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { output in
                    unsafe input.withPointer { input in
                        _ = unsafe crypto_stream_chacha20_xor_ic(output, input, count, nonce, 1, key)
                    }
                }
            }
        }
        return output
    }

    private static func zeros(_ count: Int) throws(EncryptedKey.Failure) -> SecretBytes {
        do { return try SecretBytes(zeros: count) } catch { throw .noMemory }
    }

    /// Calls a closure with the first key, and clears up.
    private static func stream(_ key: borrowing SecretBytes, _ body: (UnsafePointer<UInt8>) -> Void) {
        key.withBytes { key in
            clearingUp { unsafe key.withPointer(body) }
        }
    }
}
