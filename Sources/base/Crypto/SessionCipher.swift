package import CofferMemory
internal import CSodium

/// AES-128 in CBC with the padding of PKCS#7, for what a program and a Secret Service send each other.
///
/// It does not authenticate: a program that can change a ciphertext can change the message.
package struct SessionCipher: ~Copyable, Sendable {
    static let keyBytes = 16
    /// The size of an initialization vector.
    package static let vectorBytes = 16
    private static let name = "AES-128-CBC"

    private let key: SecretBytes
    private let ciphers: EncryptionLibrary.Ciphers

    /// Makes the cipher of a key.
    ///
    /// - Parameters:
    ///   - key: ``keyBytes`` bytes.
    ///   - ciphers: The functions that encrypt.
    init(_ key: consuming SecretBytes, _ ciphers: EncryptionLibrary.Ciphers) {
        self.key = key
        self.ciphers = ciphers
    }

    /// Encrypts a message, which may be empty.
    ///
    /// - Parameter message: The message.
    /// - Returns: A random initialization vector of ``vectorBytes`` bytes, and the ciphertext.
    /// - Throws: `noMemory` if memory is short.
    package borrowing func encrypt(_ message: RawSpan) throws(CryptoError) -> (vector: [UInt8], ciphertext: [UInt8]) {
        Sodium.prepare()
        var vector = [UInt8](repeating: 0, count: Self.vectorBytes)
        unsafe randombytes_buf(&vector, vector.count)
        var output = [UInt8](repeating: 0, count: message.byteCount + EncryptionLibrary.Ciphers.spareBytes)
        let count = clearingUp {
            key.withBytes { key in
                unsafe ciphers.pass(
                    message,
                    to: &output,
                    Self.name,
                    key,
                    vector.span.bytes,
                    encrypts: true,
                    pads: true
                )
            }
        }
        guard let count else { throw .noMemory }
        output.removeLast(output.count - count)
        return (vector, output)
    }

    /// Decrypts a message.
    ///
    /// - Parameters:
    ///   - ciphertext: The ciphertext.
    ///   - vector: The initialization vector.
    /// - Returns: The message; `nil` for an empty one.
    /// - Throws: `unauthentic` if a size or the padding is wrong, whichever it is; `noMemory` if memory can't be locked.
    package borrowing func decrypt(_ ciphertext: RawSpan, vector: RawSpan) throws(CryptoError) -> SecretBytes? {
        guard vector.byteCount == Self.vectorBytes else { throw .unauthentic }
        var message = try allocateSecret(ciphertext.byteCount + EncryptionLibrary.Ciphers.spareBytes)
        let count = clearingUp {
            unsafe message.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { output in
                    key.withBytes { key in
                        unsafe ciphers.pass(ciphertext, to: output, Self.name, key, vector, pads: true)
                    }
                }
            }
        }
        guard let count else { throw .unauthentic }
        message.truncate(to: count)
        if count == 0 { return nil }
        return message
    }
}
