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
        guard let library else { throw .noLibrary }
        var output: SecretBytes
        // A cipher in blocks may write one more.
        do { output = try SecretBytes(zeros: input.byteCount + 32) } catch { throw .noMemory }
        guard let description = unsafe library.fetch(nil, cipher, nil),
            let context = unsafe library.makeContext()
        else { throw .notOpened }
        defer {
            unsafe library.freeContext(context)
            unsafe library.freeCipher(description)
        }
        var (count, rest): (CInt, CInt) = (0, 0)
        let isDone = clearingUp {
            unsafe output.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { output in
                    key.withBytes { key in
                        unsafe key.withPointer { key in
                            unsafe input.withPointer { input in
                                unsafe library.begin(context, description, nil, key, key + keyBytes, 0) == 1
                                    && library.pad(context, 0) == 1 && library.expect(tag, context)
                                    && library.update(context, output, &count, input, CInt(buffer.count - 32)) == 1
                                    && (tag.byteCount == 0 || library.end(context, output + Int(count), &rest) == 1)
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
        guard let library else { throw .noLibrary }
        let information = unsafe clearingUp {
            unsafe passphrase.withBytes { bytes in
                unsafe bytes.withUnsafeBytes { passphrase in
                    unsafe pem.withPointer { text in
                        unsafe library.readKey(text, CInt(pem.byteCount), passphrase)
                    }
                }
            }
        }
        guard let information = unsafe information else { throw .notOpened }
        defer { unsafe library.freeInformation(information) }
        let count = unsafe library.encode(information, nil)
        guard count > 0 else { throw .notOpened }
        var key: SecretBytes
        do { key = try SecretBytes(zeros: Int(count)) } catch { throw .noMemory }
        unsafe key.withUnsafeMutableBytes { buffer in
            unsafe buffer.withPointer { start in
                var place: UnsafeMutablePointer<UInt8>? = unsafe start
                _ = unsafe library.encode(information, &place)
            }
        }
        return key
    }

    private static let library = Library()
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
    let freeInformation: Free
    let encode: Encode
    private let open: Open
    private let close: Free
    private let read: Read
    private let freeKey: Free
    private let inform: Convert

    init?() {
        guard LockedAllocator.isInstalled, let handle = unsafe dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL) else {
            return nil
        }
        func find<Function>(_ name: String) -> Function? {
            unsafe dlsym(handle, name).map { unsafe unsafeBitCast($0, to: Function.self) }
        }
        guard let initialize: Initialize = unsafe find("OPENSSL_init_crypto"),
            let fetch: Fetch = unsafe find("EVP_CIPHER_fetch"),
            let freeCipher: Free = unsafe find("EVP_CIPHER_free"),
            let makeContext: Make = unsafe find("EVP_CIPHER_CTX_new"),
            let freeContext: Free = unsafe find("EVP_CIPHER_CTX_free"),
            let begin: Begin = unsafe find("EVP_CipherInit_ex"),
            let pad: Pad = unsafe find("EVP_CIPHER_CTX_set_padding"),
            let update: Update = unsafe find("EVP_CipherUpdate"),
            let end: End = unsafe find("EVP_CipherFinal_ex"),
            let control: Control = unsafe find("EVP_CIPHER_CTX_ctrl"),
            let open: Open = unsafe find("BIO_new_mem_buf"),
            let close: Free = unsafe find("BIO_free_all"),
            let read: Read = unsafe find("PEM_read_bio_PrivateKey"),
            let freeKey: Free = unsafe find("EVP_PKEY_free"),
            let inform: Convert = unsafe find("EVP_PKEY2PKCS8"),
            let freeInformation: Free = unsafe find("PKCS8_PRIV_KEY_INFO_free"),
            let encode: Encode = unsafe find("i2d_PKCS8_PRIV_KEY_INFO"),
            initialize(Self.options, nil) == 1
        else { return nil }
        LockedAllocator.lockFromNowOn()
        unsafe (self.fetch, self.freeCipher) = (fetch, freeCipher)
        unsafe (self.makeContext, self.freeContext) = (makeContext, freeContext)
        unsafe (self.begin, self.pad, self.update) = (begin, pad, update)
        unsafe (self.end, self.control) = (end, control)
        unsafe (self.open, self.close, self.read) = (open, close, read)
        unsafe (self.freeKey, self.inform) = (freeKey, inform)
        unsafe (self.freeInformation, self.encode) = (freeInformation, encode)
    }

    /// Sets the tag that a context has to find; an empty one is none.
    func expect(_ tag: RawSpan, _ context: OpaquePointer) -> Bool {
        if tag.byteCount == 0 { return true }
        return unsafe tag.withPointer {
            unsafe control(context, Self.setTag, CInt(tag.byteCount), UnsafeMutableRawPointer(mutating: $0)) == 1
        }
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
