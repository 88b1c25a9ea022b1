package import CofferMemory
internal import Glibc

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
        guard let ciphers = library?.ciphers else { throw .noLibrary }
        var output: SecretBytes
        // A cipher in blocks may write one more.
        do { output = try SecretBytes(zeros: input.byteCount + 32) } catch { throw .noMemory }
        guard let description = unsafe ciphers.fetch(nil, cipher, nil),
            let context = unsafe ciphers.makeContext()
        else { throw .notOpened }
        defer {
            unsafe ciphers.freeContext(context)
            unsafe ciphers.freeCipher(description)
        }
        var (count, rest): (CInt, CInt) = (0, 0)
        let isDone = clearingUp {
            unsafe output.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { output in
                    key.withBytes { key in
                        unsafe key.withPointer { key in
                            unsafe input.withPointer { input in
                                unsafe ciphers.begin(context, description, nil, key, key + keyBytes, 0) == 1
                                    && ciphers.pad(context, 0) == 1 && ciphers.expect(tag, context)
                                    && ciphers.update(context, output, &count, input, CInt(buffer.count - 32)) == 1
                                    && (tag.byteCount == 0 || ciphers.end(context, output + Int(count), &rest) == 1)
                            }
                        }
                    }
                }
            }
        }
        guard isDone, count == CInt(input.byteCount) else { throw .notOpened }
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
        guard let forms = library?.forms else { throw .noLibrary }
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

    private static let library = CryptoFunctions().flatMap { try? Library($0) }
}

/// The functions of libcrypto, with its default library context.
@safe
private struct Library: Sendable {
    typealias Object = OpaquePointer?
    typealias Bytes = UnsafePointer<UInt8>
    typealias Make = @Sendable @convention(c) () -> Object
    typealias Free = @Sendable @convention(c) (Object) -> Void
    typealias Convert = @Sendable @convention(c) (Object) -> Object
    typealias Initialize = @Sendable @convention(c) (UInt64, Object) -> CInt
    typealias Fetch = @Sendable @convention(c) (Object, UnsafePointer<CChar>, UnsafePointer<CChar>?) -> Object
    typealias Begin = @Sendable @convention(c) (Object, Object, Object, Bytes, Bytes, CInt) -> CInt
    typealias Pad = @Sendable @convention(c) (Object, CInt) -> CInt
    typealias Update =
        @Sendable @convention(c) (
            Object, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<CInt>, Bytes, CInt
        ) -> CInt
    typealias End =
        @Sendable @convention(c) (
            Object, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<CInt>
        ) -> CInt
    typealias Control = @Sendable @convention(c) (Object, CInt, CInt, UnsafeMutableRawPointer?) -> CInt
    typealias Open = @Sendable @convention(c) (Bytes, CInt) -> Object
    typealias Ask =
        @convention(c) (
            UnsafeMutablePointer<UInt8>?, CInt, CInt, UnsafeMutableRawPointer?
        ) -> CInt
    typealias Read = @Sendable @convention(c) (Object, Object, Ask, UnsafeMutableRawPointer?) -> Object
    typealias Encode =
        @Sendable @convention(c) (
            Object, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?
        ) -> CInt

    /// No configuration file, and nothing at the exit of the process.
    private static let options: UInt64 = 0x80 | 0x8_0000

    let ciphers: Ciphers
    let forms: Forms

    init(_ functions: CryptoFunctions) throws {
        let initialize: Initialize = try unsafe functions.find("OPENSSL_init_crypto")
        ciphers = try Ciphers(functions)
        forms = try Forms(functions)
        guard initialize(Self.options, nil) == 1 else { throw CryptoFunctions.Unusable() }
        LockedAllocator.lockFromNowOn()
    }

    /// Those that decrypt.
    @safe
    struct Ciphers: Sendable {
        private static let setTag: CInt = 0x11

        let fetch: Fetch
        let freeCipher: Free
        let makeContext: Make
        let freeContext: Free
        let begin: Begin
        let pad: Pad
        let update: Update
        let end: End
        private let control: Control

        init(_ functions: CryptoFunctions) throws {
            unsafe fetch = try functions.find("EVP_CIPHER_fetch")
            unsafe freeCipher = try functions.find("EVP_CIPHER_free")
            unsafe makeContext = try functions.find("EVP_CIPHER_CTX_new")
            unsafe freeContext = try functions.find("EVP_CIPHER_CTX_free")
            unsafe begin = try functions.find("EVP_CipherInit_ex")
            unsafe pad = try functions.find("EVP_CIPHER_CTX_set_padding")
            unsafe update = try functions.find("EVP_CipherUpdate")
            unsafe end = try functions.find("EVP_CipherFinal_ex")
            unsafe control = try functions.find("EVP_CIPHER_CTX_ctrl")
        }

        /// Sets the tag that a context has to find; an empty one is none.
        func expect(_ tag: RawSpan, _ context: OpaquePointer) -> Bool {
            if tag.byteCount == 0 { return true }
            return unsafe tag.withPointer {
                unsafe control(context, Self.setTag, CInt(tag.byteCount), UnsafeMutableRawPointer(mutating: $0)) == 1
            }
        }
    }

    /// Those that read private keys in PEM, and write them as PKCS#8.
    @safe
    struct Forms: Sendable {
        private let open: Open
        private let close: Free
        private let read: Read
        private let freeKey: Free
        private let inform: Convert
        let freeInformation: Free
        let encode: Encode

        init(_ functions: CryptoFunctions) throws {
            unsafe open = try functions.find("BIO_new_mem_buf")
            unsafe close = try functions.find("BIO_free_all")
            unsafe read = try functions.find("PEM_read_bio_PrivateKey")
            unsafe freeKey = try functions.find("EVP_PKEY_free")
            unsafe inform = try functions.find("EVP_PKEY2PKCS8")
            unsafe freeInformation = try functions.find("PKCS8_PRIV_KEY_INFO_free")
            unsafe encode = try functions.find("i2d_PKCS8_PRIV_KEY_INFO")
        }

        /// The PKCS#8 of a key, which the caller frees; `nil` if it can't be opened.
        func readKey(_ text: Bytes, _ count: CInt, _ passphrase: UnsafeRawBufferPointer) -> OpaquePointer? {
            guard let source = unsafe open(text, count) else { return nil }
            defer { unsafe close(source) }
            var passphrase = unsafe passphrase
            let key = unsafe withUnsafeMutablePointer(to: &passphrase) { given in
                unsafe read(
                    source,
                    nil,
                    { buffer, capacity, _, given in
                        guard let given = unsafe given?.assumingMemoryBound(to: UnsafeRawBufferPointer.self).pointee,
                            let buffer = unsafe buffer, given.count <= Int(capacity)
                        else { return -1 }
                        unsafe UnsafeMutableRawBufferPointer(start: buffer, count: given.count).copyMemory(from: given)
                        return CInt(given.count)
                    },
                    given
                )
            }
            guard let key = unsafe key else { return nil }
            defer { unsafe freeKey(key) }
            return unsafe inform(key)
        }
    }
}
