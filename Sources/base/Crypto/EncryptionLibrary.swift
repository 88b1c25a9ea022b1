/// The functions of libcrypto for what other programs encrypt, with its default library context.
@safe
struct EncryptionLibrary: Sendable {
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
    typealias ReadNumber = @Sendable @convention(c) (Bytes, CInt, Object) -> Object
    typealias Mark = @Sendable @convention(c) (Object, CInt) -> Void
    typealias Power = @Sendable @convention(c) (Object, Object, Object, Object, Object) -> CInt
    typealias WriteNumber = @Sendable @convention(c) (Object, UnsafeMutablePointer<UInt8>, CInt) -> CInt
    typealias Encode =
        @Sendable @convention(c) (
            Object, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?
        ) -> CInt

    /// The library; `nil` if it can't be loaded.
    static let loaded = CryptoFunctions().flatMap { try? EncryptionLibrary($0) }

    /// No configuration file, and nothing at the exit of the process.
    private static let options: UInt64 = 0x80 | 0x8_0000

    let ciphers: Ciphers
    let forms: Forms
    let numbers: Numbers

    init(_ functions: CryptoFunctions) throws {
        let initialize: Initialize = try unsafe functions.find("OPENSSL_init_crypto")
        ciphers = try Ciphers(functions)
        forms = try Forms(functions)
        numbers = try Numbers(functions)
        guard initialize(Self.options, nil) == 1 else { throw CryptoFunctions.Unusable() }
        LockedAllocator.lockFromNowOn()
    }

    /// Those that encrypt and decrypt.
    @safe
    struct Ciphers: Sendable {
        /// The bytes of output beyond those of the input: a cipher in blocks may write one more.
        static let spareBytes = 32
        private static let setTag: CInt = 0x11

        private let fetch: Fetch
        private let freeCipher: Free
        private let makeContext: Make
        private let freeContext: Free
        private let begin: Begin
        private let pad: Pad
        private let update: Update
        private let end: End
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

        /// Decrypts, or encrypts.
        ///
        /// - Parameters:
        ///   - input: The ciphertext or the message.
        ///   - output: Memory for ``spareBytes`` more than the input.
        ///   - name: libcrypto's name of the cipher.
        ///   - key: At least the bytes that the cipher needs.
        ///   - vector: At least the bytes that the cipher needs.
        ///   - encrypts: Whether it encrypts.
        ///   - pads: Whether the message is padded as PKCS#7 has it; otherwise it has whole blocks.
        ///   - tag: The tag of the ciphertext; empty if the cipher has none.
        /// - Returns: The bytes of output; `nil` if the input can't be what the cipher makes.
        func pass(
            _ input: RawSpan,
            to output: UnsafeMutablePointer<UInt8>,
            _ name: String,
            _ key: RawSpan,
            _ vector: RawSpan,
            encrypts: Bool = false,
            pads: Bool = false,
            tag: RawSpan = RawSpan()
        ) -> Int? {
            guard let size = CInt(exactly: input.byteCount), let description = unsafe fetch(nil, name, nil) else {
                return nil
            }
            defer { unsafe freeCipher(description) }
            guard let context = unsafe makeContext() else { return nil }
            defer { unsafe freeContext(context) }
            var (count, rest): (CInt, CInt) = (0, 0)
            let isDone = unsafe key.withPointer { key in
                unsafe vector.withPointer { vector in
                    unsafe input.withPointer { input in
                        unsafe begin(context, description, nil, key, vector, encrypts ? 1 : 0) == 1
                            && pad(context, pads ? 1 : 0) == 1 && expect(tag, context)
                            && update(context, output, &count, input, size) == 1
                            && end(context, output + Int(count), &rest) == 1
                    }
                }
            }
            return isDone ? Int(count) + Int(rest) : nil
        }

        /// Has a context check a tag, unless the tag is empty.
        private func expect(_ tag: RawSpan, _ context: OpaquePointer) -> Bool {
            if tag.byteCount == 0 { return true }
            return unsafe tag.withPointer {
                unsafe control(context, Self.setTag, CInt(tag.byteCount), UnsafeMutableRawPointer(mutating: $0)) == 1
            }
        }
    }

    /// Those that calculate with large numbers, which are in big-endian order.
    @safe
    struct Numbers: Sendable {
        /// The time of a calculation with such a number does not depend on its bits.
        private static let isSecret: CInt = 0x04

        private let read: ReadNumber
        private let make: Make
        private let free: Free
        private let mark: Mark
        private let makeContext: Make
        private let freeContext: Free
        private let power: Power
        private let write: WriteNumber

        init(_ functions: CryptoFunctions) throws {
            unsafe read = try functions.find("BN_bin2bn")
            unsafe make = try functions.find("BN_new")
            unsafe free = try functions.find("BN_free")
            unsafe mark = try functions.find("BN_set_flags")
            unsafe makeContext = try functions.find("BN_CTX_new")
            unsafe freeContext = try functions.find("BN_CTX_free")
            unsafe power = try functions.find("BN_mod_exp")
            unsafe write = try functions.find("BN_bn2binpad")
        }

        /// Raises a number to a secret power, modulo an odd number.
        ///
        /// - Parameters:
        ///   - base: The number.
        ///   - exponent: The power.
        ///   - modulus: The modulus.
        ///   - output: Memory for as many bytes as the modulus has, which get the result with zeros in front.
        /// - Returns: Whether it is done; otherwise memory is short.
        func raise(
            _ base: [UInt8],
            to exponent: RawSpan,
            modulo modulus: [UInt8],
            into output: UnsafeMutablePointer<UInt8>
        ) -> Bool {
            let context = unsafe makeContext()
            let result = unsafe make()
            let secret = unsafe exponent.withPointer { unsafe read($0, CInt(exponent.byteCount), nil) }
            let number = unsafe read(base, CInt(base.count), nil)
            let bound = unsafe read(modulus, CInt(modulus.count), nil)
            defer {
                unsafe free(result)
                unsafe free(secret)
                unsafe free(number)
                unsafe free(bound)
                unsafe freeContext(context)
            }
            guard unsafe context != nil && result != nil && secret != nil && number != nil && bound != nil else {
                return false
            }
            unsafe mark(secret, Self.isSecret)
            return unsafe power(result, number, secret, bound, context) == 1
                && write(result, output, CInt(modulus.count)) == CInt(modulus.count)
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
