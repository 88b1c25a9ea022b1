package import CofferMemory

/// Opens private keys that are encrypted under a passphrase, with libcrypto: it has the ciphers of all these formats.
///
/// All that it allocates is in locked memory, and wiped.
package enum EncryptedKey {
    /// Why a key was not opened.
    package enum Failure: Error, Equatable, Sendable {
        /// `libcrypto.so.3` can't be loaded.
        case noLibrary
        /// The passphrase is wrong, or the key is damaged or of a form that libcrypto does not read.
        case notOpened
        /// Memory can't be locked.
        case noMemory
    }

    /// Decrypts the keys of OpenSSH, which have no integrity check unless there is a tag.
    ///
    /// - Parameters:
    ///   - input: The ciphertext, in whole blocks.
    ///   - cipher: libcrypto's name of the cipher, such as `AES-256-CTR`.
    ///   - key: The key, followed by the initialization vector.
    ///   - keyBytes: The size of the key without the vector.
    ///   - tag: The tag of 16 bytes of a cipher that authenticates; empty for another one.
    package static func decrypt(
        _ input: RawSpan,
        _ cipher: String,
        _ key: borrowing SecretBytes,
        keyBytes: Int,
        tag: RawSpan = RawSpan()
    ) throws(Failure) -> SecretBytes {
        guard let ciphers = EncryptionLibrary.loaded?.ciphers else { throw .noLibrary }
        var output: SecretBytes
        let capacity = input.byteCount + EncryptionLibrary.Ciphers.spareBytes
        do { output = try SecretBytes(zeros: capacity) } catch { throw .noMemory }
        let count = clearingUp {
            unsafe output.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { output in
                    key.withBytes { key in
                        let vector = key.extracting(droppingFirst: keyBytes)
                        return unsafe ciphers.pass(input, to: output, cipher, key, vector, tag: tag)
                    }
                }
            }
        }
        guard count == input.byteCount else { throw .notOpened }
        output.truncate(to: input.byteCount)
        return output
    }

    /// Reads an encrypted private key in PEM: PKCS#8, or the older forms of OpenSSL with `Proc-Type: 4,ENCRYPTED`.
    ///
    /// - Parameters:
    ///   - pem: The text.
    ///   - passphrase: The passphrase.
    /// - Returns: The key as PKCS#8, in DER.
    package static func open(
        pem: RawSpan,
        with passphrase: borrowing SecretBytes
    ) throws(Failure) -> SecretBytes {
        guard let forms = EncryptionLibrary.loaded?.forms else { throw .noLibrary }
        let information = unsafe clearingUp {
            unsafe passphrase.withBytes { bytes in
                unsafe bytes.withUnsafeBytes { passphrase in
                    unsafe pem.withPointer { text in
                        unsafe forms.readKey(text, CInt(pem.byteCount), passphrase)
                    }
                }
            }
        }
        guard let information = unsafe information else { throw .notOpened }
        defer { unsafe forms.freeInformation(information) }
        let count = unsafe forms.encode(information, nil)
        guard count > 0 else { throw .notOpened }
        var key: SecretBytes
        do { key = try SecretBytes(zeros: Int(count)) } catch { throw .noMemory }
        unsafe key.withUnsafeMutableBytes { buffer in
            unsafe buffer.withPointer { start in
                var place: UnsafeMutablePointer<UInt8>? = unsafe start
                _ = unsafe forms.encode(information, &place)
            }
        }
        return key
    }
}
