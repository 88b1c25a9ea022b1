internal import CofferCore
package import CofferMemory
internal import CSodium

/// The AEAD with which the chunks of a file are sealed.
package enum CipherSuite: UInt8, CaseIterable, Sendable {
    /// AES-256-GCM: about 1.5 times as fast as the other, if the processor supports it.
    case aes256GCM = 1
    /// XChaCha20-Poly1305: on every processor.
    case xChaCha20Poly1305 = 2

    /// The suite for new files on this machine.
    package static var preferred: CipherSuite { aes256GCM.isAvailable ? .aes256GCM : .xChaCha20Poly1305 }

    /// Whether this machine can use the suite.
    package var isAvailable: Bool {
        Sodium.prepare()
        return self == .xChaCha20Poly1305 || crypto_aead_aes256gcm_is_available() == 1
    }

    /// Both have a tag of sixteen bytes.
    package static let tagBytes = Int(crypto_aead_aes256gcm_ABYTES)

    fileprivate var nonceBytes: Int {
        switch self {
        case .aes256GCM: Int(crypto_aead_aes256gcm_NPUBBYTES)
        case .xChaCha20Poly1305: Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
        }
    }
}

/// The STREAM construction over the chunks of a file: each chunk is bound to the file's header, to its number, and to
/// whether it is the last.
///
/// The nonce is the number, right-aligned, with a flag for the last chunk in the first byte; under a key that seals
/// only one content, it can't repeat. Because the flag is in the nonce, a file that was truncated or extended fails at
/// its end.
package struct ChunkCipher: Sendable {
    /// The suite.
    package let suite: CipherSuite
    /// The associated data of each chunk.
    private let header: [UInt8]
    private let usesLibcrypto: Bool

    /// Creates the cipher of one content.
    ///
    /// - Parameters:
    ///   - suite: An available suite.
    ///   - header: The associated data of each chunk.
    ///   - usesLibcrypto: Whether libcrypto may do it, if it is loaded: the bytes are the same.
    package init(suite: CipherSuite, header: [UInt8], usesLibcrypto: Bool = true) {
        self.suite = suite
        self.header = header
        self.usesLibcrypto = usesLibcrypto
    }

    /// Seals one chunk.
    ///
    /// - Parameters:
    ///   - chunk: The plaintext.
    ///   - index: Its number, from 0.
    ///   - isLast: Whether it is the last chunk.
    ///   - key: The file's key.
    ///   - output: The buffer for the ciphertext and the tag: ``CipherSuite/tagBytes`` more than the plaintext.
    package func seal(
        _ chunk: RawSpan,
        at index: UInt64,
        isLast: Bool,
        under key: borrowing SymmetricKey,
        into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(output.count == chunk.byteCount + CipherSuite.tagBytes, "room for the chunk and its tag")
        let nonce = nonce(index, isLast)
        let suite = suite
        let header = header
        let library = library(for: chunk.byteCount)
        unsafe output.withPointer { result in
            unsafe chunk.withPointer { message in
                unsafe key.withPointer { rawKey in
                    let plaintext = unsafe UnsafeBufferPointer(start: message, count: chunk.byteCount)
                    if let library, unsafe library.seal(plaintext, into: result, nonce: nonce, header, under: rawKey) {
                        return
                    }
                    let encrypt =
                        switch suite {
                        case .aes256GCM: unsafe crypto_aead_aes256gcm_encrypt
                        case .xChaCha20Poly1305: unsafe crypto_aead_xchacha20poly1305_ietf_encrypt
                        }
                    _ = unsafe encrypt(
                        result,
                        nil,
                        message,
                        UInt64(chunk.byteCount),
                        header,
                        UInt64(header.count),
                        nil,
                        nonce,
                        rawKey
                    )
                }
            }
        }
    }

    /// Verifies and decrypts one chunk.
    ///
    /// - Parameters:
    ///   - sealed: The ciphertext and the tag.
    ///   - index: Its number, from 0.
    ///   - isLast: Whether it is the last chunk.
    ///   - key: The file's key.
    ///   - output: The buffer for the plaintext: ``CipherSuite/tagBytes`` less.
    /// - Throws: `unauthentic` if anything differs from sealing; `output` is then zero.
    package func open(
        _ sealed: RawSpan,
        at index: UInt64,
        isLast: Bool,
        under key: borrowing SymmetricKey,
        into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        guard sealed.byteCount == output.count + CipherSuite.tagBytes else { throw .unauthentic }
        let nonce = nonce(index, isLast)
        let suite = suite
        let header = header
        let library = library(for: output.count)
        let isAuthentic = unsafe output.withPointer { result in
            unsafe sealed.withPointer { input in
                unsafe key.withPointer { rawKey in
                    let ciphertext = unsafe UnsafeBufferPointer(start: input, count: output.count)
                    if let library, unsafe library.open(ciphertext, into: result, nonce: nonce, header, under: rawKey) {
                        return true
                    }
                    let decrypt =
                        switch suite {
                        case .aes256GCM: unsafe crypto_aead_aes256gcm_decrypt
                        case .xChaCha20Poly1305: unsafe crypto_aead_xchacha20poly1305_ietf_decrypt
                        }
                    return unsafe decrypt(
                        result,
                        nil,
                        nil,
                        input,
                        UInt64(sealed.byteCount),
                        header,
                        UInt64(header.count),
                        nonce,
                        rawKey
                    )
                        == 0
                }
            }
        }
        guard isAuthentic else { throw .unauthentic }
    }

    /// libcrypto, if it is loaded and a context of it pays.
    ///
    /// What it refuses, libsodium tries again: memory may be short.
    private func library(for byteCount: Int) -> LibCrypto? {
        guard usesLibcrypto, suite == .aes256GCM, byteCount >= Self.libraryBytes else { return nil }
        return LibCrypto.loaded
    }

    /// The smallest chunk for which a context pays.
    private static let libraryBytes = 4096

    private func nonce(_ index: UInt64, _ isLast: Bool) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(isLast ? 1 : 0))
        writer.write(raw: repeatElement(0, count: suite.nonceBytes - 9))
        writer.write(index)
        return writer.bytes
    }
}
