package import CofferMemory
internal import CSodium

/// HMAC with SHA-256, and what is built of it, for files of other programs.
///
/// Coffer itself uses BLAKE2b and Argon2id.
package enum HMACSHA256 {
    /// The bytes of a key and of a code.
    package static let byteCount = Int(crypto_auth_hmacsha256_BYTES)

    /// The code of a message under a key of any size.
    package static func code(
        of message: RawSpan,
        under key: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        Sodium.prepare()
        var code = try allocateSecret(byteCount)
        clearingUp {
            var state = crypto_auth_hmacsha256_state()
            start(&state, key)
            unsafe code.withUnsafeMutableBytes { output in
                unsafe output.withPointer { output in
                    _ = unsafe message.withPointer {
                        unsafe crypto_auth_hmacsha256_update(&state, $0, UInt64(message.byteCount))
                    }
                    _ = unsafe crypto_auth_hmacsha256_final(&state, output)
                }
            }
            unsafe sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size)
        }
        return code
    }

    /// PBKDF2 of RFC 8018, of one block.
    ///
    /// It takes tenths of a second for a million iterations.
    package static func stretched(
        _ password: borrowing SecretBytes,
        salt: [UInt8],
        iterations: Int
    ) throws(CryptoError) -> SecretBytes {
        precondition(iterations > 0)
        Sodium.prepare()
        var key = try allocateSecret(byteCount)
        clearingUp {
            var first = crypto_auth_hmacsha256_state()
            start(&first, password)
            var state = first
            var block = [UInt8](repeating: 0, count: byteCount)
            let message = salt + [0, 0, 0, 1]
            unsafe crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
            unsafe crypto_auth_hmacsha256_final(&state, &block)
            unsafe key.withUnsafeMutableBytes { output in
                for index in 0..<byteCount { unsafe output[index] = block[index] }
                for _ in 1..<max(iterations, 1) {
                    state = first
                    unsafe crypto_auth_hmacsha256_update(&state, block, UInt64(byteCount))
                    unsafe crypto_auth_hmacsha256_final(&state, &block)
                    for index in 0..<byteCount { unsafe output[index] ^= block[index] }
                }
            }
            unsafe sodium_memzero(&block, byteCount)
            unsafe sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size)
            unsafe sodium_memzero(&first, MemoryLayout<crypto_auth_hmacsha256_state>.size)
        }
        return key
    }

    /// The first block of what HKDF of RFC 5869 derives, without a salt.
    ///
    /// - Parameters:
    ///   - secret: The secret that a key is derived from.
    ///   - info: The purpose of the key.
    /// - Returns: ``byteCount`` bytes, of which a shorter key is the first ones.
    package static func derived(
        from secret: borrowing SecretBytes,
        info: [UInt8] = []
    ) throws(CryptoError) -> SecretBytes {
        let salt = try allocateSecret(byteCount)
        let extracted = try secret.withBytes { (secret) throws(CryptoError) in try code(of: secret, under: salt) }
        return try expanded(extracted, info: info)
    }

    /// The first block that HKDF expands a key to.
    ///
    /// - Parameters:
    ///   - key: The key, which is random already.
    ///   - info: The purpose of the block.
    package static func expanded(_ key: borrowing SecretBytes, info: [UInt8]) throws(CryptoError) -> SecretBytes {
        let message = info + [1]
        return try unsafe code(of: message.span.bytes, under: key)
    }

    private static func start(_ state: inout crypto_auth_hmacsha256_state, _ key: borrowing SecretBytes) {
        key.withBytes { bytes in
            _ = unsafe bytes.withPointer { unsafe crypto_auth_hmacsha256_init(&state, $0, bytes.byteCount) }
        }
    }
}
