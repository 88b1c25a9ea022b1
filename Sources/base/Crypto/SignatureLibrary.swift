internal import CofferCore
internal import CofferMemory
internal import Glibc

/// libcrypto's signatures of RSA and ECDSA.
///
/// It is loaded for the first such signature, so that neither the start of the daemon nor its idle memory pays for it.
/// Its library context is its own, which no configuration file has changed.
@safe
struct SignatureLibrary: Sendable {
    typealias Object = OpaquePointer?
    typealias Bytes = UnsafePointer<UInt8>
    private typealias Name = UnsafePointer<CChar>
    private typealias Make = @Sendable @convention(c) () -> Object
    private typealias Free = @Sendable @convention(c) (Object) -> Void
    private typealias Initialize = @Sendable @convention(c) (UInt64, Object) -> CInt
    private typealias Decode =
        @Sendable @convention(c) (
            Object, UnsafeMutablePointer<Bytes?>, CLong, Object, Name?
        ) -> Object
    private typealias Begin =
        @Sendable @convention(c) (
            Object, Object, Name, Object, Name?, Object, Object
        ) -> CInt
    private typealias Sign =
        @Sendable @convention(c) (
            Object, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<Int>, Bytes, Int
        ) -> CInt
    private typealias Verify = @Sendable @convention(c) (Object, Bytes, Int, Bytes, Int) -> CInt

    /// No strings of errors, no tables of algorithms, no configuration file, nothing at the exit of the process.
    private static let options: UInt64 = 0x1 | 0x10 | 0x20 | 0x80 | 0x8_0000

    /// The library; `nil` if it can't be loaded.
    static let loaded = CryptoFunctions().flatMap { try? SignatureLibrary($0) }

    // libcrypto lets any thread use it.
    private nonisolated(unsafe) let library: OpaquePointer
    private let decode: Decode
    private let decodePublic: Decode
    private let freeKey: Free
    private let makeContext: Make
    private let freeContext: Free
    private let beginSigning: Begin
    private let sign: Sign
    private let beginVerifying: Begin
    private let verify: Verify

    private init(_ functions: CryptoFunctions) throws {
        let initialize: Initialize = try unsafe functions.find("OPENSSL_init_crypto")
        let makeLibrary: Make = try unsafe functions.find("OSSL_LIB_CTX_new")
        unsafe decode = try functions.find("d2i_AutoPrivateKey_ex")
        unsafe decodePublic = try functions.find("d2i_PUBKEY_ex")
        unsafe freeKey = try functions.find("EVP_PKEY_free")
        unsafe makeContext = try functions.find("EVP_MD_CTX_new")
        unsafe freeContext = try functions.find("EVP_MD_CTX_free")
        unsafe beginSigning = try functions.find("EVP_DigestSignInit_ex")
        unsafe sign = try functions.find("EVP_DigestSign")
        unsafe beginVerifying = try functions.find("EVP_DigestVerifyInit_ex")
        unsafe verify = try functions.find("EVP_DigestVerify")
        guard initialize(Self.options, nil) == 1, let library = unsafe makeLibrary() else {
            throw CryptoFunctions.Unusable()
        }
        unsafe self.library = library
        LockedAllocator.lockFromNowOn()
    }

    /// Signs a message, and verifies the signature.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - key: The key, as PKCS#8 in DER.
    ///   - digest: libcrypto's name of the hash.
    /// - Returns: The signature; `nil` if the key can't be used, or its halves do not belong together.
    func signature(of message: RawSpan, by key: RawSpan, _ digest: String) -> [UInt8]? {
        guard let key = unsafe decoded(key, by: decode) else { return nil }
        defer { unsafe freeKey(key) }
        var signature = [UInt8](repeating: 0, count: Limits.rsaBits / 8)
        var count = signature.count
        return unsafe message.withPointer { start in
            let isSigned = unsafe withContext { context in
                unsafe beginSigning(context, nil, digest, library, nil, key, nil) == 1
                    && sign(context, &signature, &count, start, message.byteCount) == 1
            }
            guard isSigned else { return nil }
            signature.removeLast(signature.count - count)
            return unsafe isValid(signature, of: message, by: key, digest) ? signature : nil
        }
    }

    /// Verifies a signature.
    ///
    /// - Parameters:
    ///   - signature: The signature.
    ///   - message: The message.
    ///   - publicKey: The key, as SubjectPublicKeyInfo in DER.
    ///   - digest: libcrypto's name of the hash.
    func isValid(_ signature: [UInt8], of message: RawSpan, by publicKey: RawSpan, _ digest: String) -> Bool {
        guard let key = unsafe decoded(publicKey, by: decodePublic) else { return false }
        defer { unsafe freeKey(key) }
        return unsafe isValid(signature, of: message, by: key, digest)
    }

    private func isValid(
        _ signature: [UInt8],
        of message: RawSpan,
        by key: OpaquePointer,
        _ digest: String
    ) -> Bool {
        unsafe message.withPointer { start in
            unsafe withContext { context in
                unsafe beginVerifying(context, nil, digest, library, nil, key, nil) == 1
                    && verify(context, signature, signature.count, start, message.byteCount) == 1
            }
        }
    }

    private func decoded(_ key: RawSpan, by decode: Decode) -> OpaquePointer? {
        unsafe key.withPointer { start in
            var place: Bytes? = unsafe start
            return unsafe decode(nil, &place, key.byteCount, library, nil)
        }
    }

    private func withContext(_ body: (OpaquePointer) -> Bool) -> Bool {
        guard let context = unsafe makeContext() else { return false }
        defer { unsafe freeContext(context) }
        return unsafe body(context)
    }
}
