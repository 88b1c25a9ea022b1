internal import CofferMemory
internal import CSodium
internal import Glibc
internal import Synchronization

/// libcrypto's AES-256-GCM, two to three times as fast as libsodium's, for the contents of large files.
///
/// It is loaded when there is a large file, so that neither the start of the daemon nor its idle memory pays for it. If
/// it can't be loaded, libsodium does the same more slowly. A context, which has the schedule of a key, exists during
/// one call, in locked memory that is wiped when it is freed.
@safe
package struct LibCrypto: Sendable {
    private typealias Make = @Sendable @convention(c) () -> OpaquePointer?
    private typealias Free = @Sendable @convention(c) (OpaquePointer?) -> Void
    private typealias Initialize = @Sendable @convention(c) (UInt64, OpaquePointer?) -> CInt
    private typealias Fetch =
        @Sendable @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, UnsafePointer<CChar>?
        ) -> OpaquePointer?
    private typealias Begin =
        @Sendable @convention(c) (
            OpaquePointer?, OpaquePointer?, OpaquePointer?, UnsafePointer<UInt8>, UnsafePointer<UInt8>, CInt
        ) -> CInt
    private typealias Update =
        @Sendable @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<CInt>, UnsafePointer<UInt8>, CInt
        ) -> CInt
    private typealias End =
        @Sendable @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<CInt>
        ) -> CInt
    private typealias Control = @Sendable @convention(c) (OpaquePointer?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt

    private static let getTag: CInt = 0x10
    private static let setTag: CInt = 0x11
    /// No strings of errors, no tables of algorithms, no configuration file, nothing at the exit of the process.
    private static let options: UInt64 = 0x1 | 0x10 | 0x20 | 0x80 | 0x8_0000

    private let makeContext: Make
    private let freeContext: Free
    private let begin: Begin
    private let update: Update
    private let end: End
    private let control: Control
    // The description of a cipher: libcrypto lets any thread use it, and nothing changes it.
    private nonisolated(unsafe) let cipher: OpaquePointer

    // MARK: Loading

    private static let library = CryptoFunctions().flatMap { try? LibCrypto($0) }
    private static let isLoaded = Atomic(false)

    /// The library, if it was loaded.
    static var loaded: LibCrypto? { isReady ? library : nil }

    /// Whether it is loaded, so that chunks are sealed and opened by it.
    package static var isReady: Bool { isLoaded.load(ordering: .acquiring) }

    /// Loads the library, once.
    ///
    /// It takes some milliseconds: not for the event loop.
    ///
    /// - Returns: Whether it is there.
    @discardableResult package static func load() -> Bool {
        guard library != nil else { return false }
        isLoaded.store(true, ordering: .releasing)
        return true
    }

    private init(_ functions: CryptoFunctions) throws {
        let initialize: Initialize = try unsafe functions.find("OPENSSL_init_crypto")
        let makeLibrary: Make = try unsafe functions.find("OSSL_LIB_CTX_new")
        let fetch: Fetch = try unsafe functions.find("EVP_CIPHER_fetch")
        unsafe makeContext = try functions.find("EVP_CIPHER_CTX_new")
        unsafe freeContext = try functions.find("EVP_CIPHER_CTX_free")
        unsafe begin = try functions.find("EVP_CipherInit_ex")
        unsafe update = try functions.find("EVP_CipherUpdate")
        unsafe end = try functions.find("EVP_CipherFinal_ex")
        unsafe control = try functions.find("EVP_CIPHER_CTX_ctrl")
        guard initialize(Self.options, nil) == 1, let library = unsafe makeLibrary(),
            let cipher = unsafe fetch(library, "AES-256-GCM", nil)
        else { throw CryptoFunctions.Unusable() }
        unsafe self.cipher = cipher
        LockedAllocator.lockFromNowOn()
    }

    // MARK: Using

    /// Seals a message.
    ///
    /// - Parameters:
    ///   - message: The plaintext.
    ///   - output: The buffer for the ciphertext and the tag.
    ///   - nonce: Twelve bytes.
    ///   - context: The associated data.
    ///   - key: The key.
    /// - Returns: Whether it was sealed; otherwise memory is short.
    func seal(
        _ message: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutablePointer<UInt8>,
        nonce: [UInt8],
        _ context: [UInt8],
        under key: UnsafePointer<UInt8>
    ) -> Bool {
        unsafe withContext(nonce, context, under: key, encrypts: true) { cipher in
            var count: CInt = 0
            let tag = unsafe output + message.count
            return unsafe pass(message, through: cipher, to: output) && end(cipher, tag, &count) == 1
                && control(cipher, Self.getTag, CInt(CipherSuite.tagBytes), tag) == 1
        }
    }

    /// Verifies and decrypts a message.
    ///
    /// - Parameters:
    ///   - sealed: The ciphertext, which is followed by the tag.
    ///   - output: The buffer for the plaintext, which is zero if the message is not authentic.
    ///   - nonce: Twelve bytes.
    ///   - context: The associated data.
    ///   - key: The key.
    /// - Returns: Whether it is authentic.
    func open(
        _ sealed: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutablePointer<UInt8>,
        nonce: [UInt8],
        _ context: [UInt8],
        under key: UnsafePointer<UInt8>
    ) -> Bool {
        let isAuthentic = unsafe withContext(nonce, context, under: key, encrypts: false) { cipher in
            guard let start = sealed.baseAddress else { return false }
            var count: CInt = 0
            let tag = unsafe UnsafeMutableRawPointer(mutating: start + sealed.count)
            return unsafe control(cipher, Self.setTag, CInt(CipherSuite.tagBytes), tag) == 1
                && pass(sealed, through: cipher, to: output) && end(cipher, output + sealed.count, &count) == 1
        }
        if !isAuthentic { unsafe sodium_memzero(output, sealed.count) }
        return isAuthentic
    }

    private func pass(
        _ input: UnsafeBufferPointer<UInt8>,
        through cipher: OpaquePointer,
        to output: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        var count: CInt = 0
        guard let start = input.baseAddress else { return false }
        return unsafe update(cipher, output, &count, start, CInt(input.count)) == 1 && count == input.count
    }

    private func withContext(
        _ nonce: [UInt8],
        _ context: [UInt8],
        under key: UnsafePointer<UInt8>,
        encrypts: Bool,
        _ body: (OpaquePointer) -> Bool
    ) -> Bool {
        guard let cipher = unsafe makeContext() else { return false }
        defer { unsafe freeContext(cipher) }
        var count: CInt = 0
        guard unsafe begin(cipher, self.cipher, nil, key, nonce, encrypts ? 1 : 0) == 1,
            unsafe update(cipher, nil, &count, context, CInt(context.count)) == 1
        else { return false }
        return unsafe body(cipher)
    }
}

/// The functions of libcrypto, by their names.
@safe
struct CryptoFunctions {
    struct Unusable: Error {}

    private let handle: UnsafeMutableRawPointer

    /// Loads the library; `nil` if it can't be loaded.
    init?() {
        // All its symbols are bound now: later, that would save registers with keys on the stack.
        guard LockedAllocator.isInstalled, let handle = unsafe dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL) else {
            return nil
        }
        unsafe self.handle = handle
    }

    func find<Function>(_ name: String) throws -> Function {
        guard let symbol = unsafe dlsym(handle, name) else { throw Unusable() }
        return unsafe unsafeBitCast(symbol, to: Function.self)
    }
}

/// The memory of libcrypto: once it is loaded, all that it allocates is locked, and wiped when it is freed.
///
/// Before each allocation are its size, and whether it is locked.
enum LockedAllocator {
    private typealias Install = @convention(c) (Allocate, Resize, Free) -> CInt

    /// Whether libcrypto allocates so, which it does from the first call on; it refuses if another library of this process
    /// has used it already.
    static let isInstalled: Bool = {
        guard let handle = unsafe dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL),
            let symbol = unsafe dlsym(handle, "CRYPTO_set_mem_functions")
        else { return false }
        let install = unsafe unsafeBitCast(symbol, to: Install.self)
        return unsafe install(allocate, resize, free) == 1
    }()

    typealias Allocate = @convention(c) (Int, UnsafePointer<CChar>?, CInt) -> UnsafeMutableRawPointer?
    typealias Resize =
        @convention(c) (
            UnsafeMutableRawPointer?, Int, UnsafePointer<CChar>?, CInt
        ) -> UnsafeMutableRawPointer?
    typealias Free = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, CInt) -> Void

    static var allocate: Allocate { { count, _, _ in unsafe LockedAllocator.make(count) } }
    static var free: Free { { address, _, _ in unsafe LockedAllocator.release(address) } }
    static var resize: Resize {
        { address, count, _, _ in
            guard let address = unsafe address else { return unsafe LockedAllocator.make(count) }
            guard let new = unsafe LockedAllocator.make(count) else { return nil }
            let kept = unsafe min(count, LockedAllocator.header(of: address)[0])
            unsafe new.copyMemory(from: address, byteCount: kept)
            unsafe LockedAllocator.release(address)
            return unsafe new
        }
    }

    private static let headerBytes = 16
    private static let locks = Atomic(false)

    static func lockFromNowOn() { locks.store(true, ordering: .releasing) }

    private static func header(of address: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Int> {
        unsafe (address - headerBytes).assumingMemoryBound(to: Int.self)
    }

    private static func make(_ count: Int) -> UnsafeMutableRawPointer? {
        let isLocked = locks.load(ordering: .acquiring)
        let total = count + headerBytes
        let start = isLocked ? unsafe try? SecretArena.shared.allocate(total) : unsafe malloc(total)
        guard let start = unsafe start else { return nil }
        let address = unsafe start + headerBytes
        unsafe header(of: address)[0] = count
        unsafe header(of: address)[1] = isLocked ? 1 : 0
        return unsafe address
    }

    private static func release(_ address: UnsafeMutableRawPointer?) {
        guard let address = unsafe address else { return }
        let header = unsafe header(of: address)
        if unsafe header[1] == 1 {
            unsafe SecretArena.shared.release(header, header[0] + headerBytes)
        } else {
            unsafe Glibc.free(header)
        }
    }
}
