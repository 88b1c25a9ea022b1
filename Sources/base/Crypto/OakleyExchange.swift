package import CofferMemory

/// One side of a Diffie-Hellman exchange in the second Oakley group (RFC 2409, 6.2), for programs that know no other.
///
/// The cipher of an exchange hides secrets from a program that records the bus. Neither side proves who it is, and a group
/// of 1024 bits keeps nothing secret for years. For Coffer's own keys there is ``KeyAgreement``.
package struct OakleyExchange: ~Copyable, Sendable {
    /// The size of the keys.
    package static let keyBytes = prime.count

    /// The public key: ``keyBytes`` bytes, with zeros in front.
    package let publicKey: [UInt8]

    private let privateKey: SecretBytes
    private let library: EncryptionLibrary

    /// Makes a random pair of keys; `nil` if `libcrypto.so.3` can't be loaded.
    ///
    /// - Throws: `noMemory` if memory can't be locked.
    package init?() throws(CryptoError) {
        let privateKey: SecretBytes
        do { privateKey = try SecretBytes(random: Self.keyBytes) } catch { throw .noMemory }
        try self.init(privateKey: privateKey)
    }

    /// Makes the pair of a private key; `nil` if `libcrypto.so.3` can't be loaded.
    ///
    /// - Parameter privateKey: Exactly ``keyBytes`` random bytes; any other number gives `nil`.
    /// - Throws: `noMemory` if memory can't be locked.
    package init?(privateKey: consuming SecretBytes) throws(CryptoError) {
        guard privateKey.count == Self.keyBytes, let library = EncryptionLibrary.loaded else { return nil }
        publicKey = try Self.power(of: Self.generator, privateKey, library).exposeBytes()
        self.privateKey = privateKey
        self.library = library
    }

    /// The cipher of the secret that is shared with a peer.
    ///
    /// - Parameter peer: The public key of the peer, with any number of zeros in front.
    /// - Throws: `unusableKey` if the key is not between 1 and the prime less 1: with these two, anybody could guess the
    ///   secret; `noMemory` if memory can't be locked.
    package borrowing func cipher(with peer: RawSpan) throws(CryptoError) -> SessionCipher {
        guard let peer = Self.padded(peer), Self.one.lexicographicallyPrecedes(peer),
            peer.lexicographicallyPrecedes(Self.primeLessOne)
        else { throw .unusableKey }
        var key = try HMACSHA256.derived(from: Self.power(of: peer, privateKey, library))
        key.truncate(to: SessionCipher.keyBytes)
        return SessionCipher(key, library.ciphers)
    }

    /// A number to the power of a private key, in as many bytes as the prime has.
    private static func power(
        of base: [UInt8],
        _ privateKey: borrowing SecretBytes,
        _ library: EncryptionLibrary
    ) throws(CryptoError) -> SecretBytes {
        var result = try allocateSecret(keyBytes)
        // libcrypto keeps a short table of powers on the stack.
        let isDone = clearingUp(stackBytes: 64 << 10) {
            unsafe result.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { output in
                    privateKey.withBytes { unsafe library.numbers.raise(base, to: $0, modulo: prime, into: output) }
                }
            }
        }
        guard isDone else { throw .noMemory }
        return result
    }

    /// A number in as many bytes as the prime has; `nil` if it is too large.
    private static func padded(_ number: RawSpan) -> [UInt8]? {
        unsafe number.withUnsafeBytes { bytes in
            let digits = unsafe bytes.drop { $0 == 0 }
            guard unsafe digits.count <= keyBytes else { return nil }
            return unsafe [UInt8](repeating: 0, count: keyBytes - digits.count) + digits
        }
    }

    private static let generator: [UInt8] = [2]
    private static let one = [UInt8](repeating: 0, count: keyBytes - 1) + [1]
    // The prime is odd.
    private static let primeLessOne: [UInt8] = prime.dropLast() + [0xFE]
    private static let prime: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xC9, 0x0F, 0xDA, 0xA2, 0x21, 0x68, 0xC2, 0x34,
        0xC4, 0xC6, 0x62, 0x8B, 0x80, 0xDC, 0x1C, 0xD1, 0x29, 0x02, 0x4E, 0x08, 0x8A, 0x67, 0xCC, 0x74,
        0x02, 0x0B, 0xBE, 0xA6, 0x3B, 0x13, 0x9B, 0x22, 0x51, 0x4A, 0x08, 0x79, 0x8E, 0x34, 0x04, 0xDD,
        0xEF, 0x95, 0x19, 0xB3, 0xCD, 0x3A, 0x43, 0x1B, 0x30, 0x2B, 0x0A, 0x6D, 0xF2, 0x5F, 0x14, 0x37,
        0x4F, 0xE1, 0x35, 0x6D, 0x6D, 0x51, 0xC2, 0x45, 0xE4, 0x85, 0xB5, 0x76, 0x62, 0x5E, 0x7E, 0xC6,
        0xF4, 0x4C, 0x42, 0xE9, 0xA6, 0x37, 0xED, 0x6B, 0x0B, 0xFF, 0x5C, 0xB6, 0xF4, 0x06, 0xB7, 0xED,
        0xEE, 0x38, 0x6B, 0xFB, 0x5A, 0x89, 0x9F, 0xA5, 0xAE, 0x9F, 0x24, 0x11, 0x7C, 0x4B, 0x1F, 0xE6,
        0x49, 0x28, 0x66, 0x51, 0xEC, 0xE6, 0x53, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
    ]
}
