package import CofferMemory
internal import CSodium

/// The key derivation of OpenSSH's private keys: `bcrypt_pbkdf`, of OpenBSD.
///
/// Neither libsodium nor libcrypto has it. It reads tables at places that depend on the passphrase, as every bcrypt
/// does: it is for a key that its owner imports, and nothing else is derived by it.
package enum BcryptKey {
    /// Derives a key.
    ///
    /// - Parameters:
    ///   - count: The bytes of the key, 1 to 1024.
    ///   - passphrase: The passphrase.
    ///   - salt: The salt.
    ///   - rounds: At least 1; each takes about 5 ms for 32 bytes.
    /// - Throws: `noMemory` if memory can't be locked.
    package static func derive(
        _ count: Int,
        from passphrase: borrowing SecretBytes,
        salt: [UInt8],
        rounds: Int
    ) throws(CryptoError) -> SecretBytes {
        precondition((1...1024).contains(count) && rounds > 0)
        Sodium.prepare()
        var key = try allocateSecret(count)
        var work = try allocateSecret(Work.bytes)
        clearingUp {
            unsafe work.withUnsafeMutableBytes { buffer in
                guard let start = buffer.baseAddress else { return }
                let work = unsafe Work(start)
                passphrase.withBytes { bytes in
                    unsafe bytes.withPointer { input in
                        _ = unsafe crypto_hash_sha512(work.passphrase, input, UInt64(bytes.byteCount))
                    }
                }
                // The blocks are spread over the key: block 0 is its bytes 0, 2, 4 and so on, if there are two.
                let blocks = (count + Work.blockBytes - 1) / Work.blockBytes
                unsafe key.withUnsafeMutableBytes { output in
                    for block in 0..<blocks {
                        work.deriveBlock(UInt32(block + 1), salt, rounds)
                        for place in stride(from: block, to: count, by: blocks) {
                            unsafe output[place] = work.sum[place / blocks]
                        }
                    }
                }
            }
        }
        return key
    }
}

/// The state of Blowfish, and the hashes: all of it is secret.
@safe
private struct Work {
    static let blockBytes = 32
    private static let hashBytes = 64
    private static let stateWords = 1042
    static let bytes = stateWords * 4 + 2 * hashBytes + 2 * blockBytes

    /// 18 subkeys, and four boxes of 256 words.
    private let state: UnsafeMutablePointer<UInt32>
    let passphrase: UnsafeMutablePointer<UInt8>
    private let salt: UnsafeMutablePointer<UInt8>
    private let block: UnsafeMutablePointer<UInt8>
    let sum: UnsafeMutablePointer<UInt8>

    init(_ start: UnsafeMutableRawPointer) {
        unsafe state = start.assumingMemoryBound(to: UInt32.self)
        unsafe passphrase = (start + Self.stateWords * 4).assumingMemoryBound(to: UInt8.self)
        unsafe salt = passphrase + Self.hashBytes
        unsafe block = salt + Self.hashBytes
        unsafe sum = block + Self.blockBytes
    }

    func deriveBlock(_ number: UInt32, _ publicSalt: [UInt8], _ rounds: Int) {
        let input = publicSalt + stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        _ = unsafe crypto_hash_sha512(salt, input, UInt64(input.count))
        for round in 0..<rounds {
            if round > 0 { _ = unsafe crypto_hash_sha512(salt, block, UInt64(Self.blockBytes)) }
            hash()
            for place in 0..<Self.blockBytes {
                unsafe sum[place] = round == 0 ? block[place] : sum[place] ^ block[place]
            }
        }
    }

    /// The hash of the passphrase and the salt, into the block.
    private func hash() {
        for place in 0..<Self.stateWords { unsafe state[place] = BlowfishTable.words[place] }
        unsafe expand(by: passphrase, salt)
        for _ in 0..<64 {
            unsafe expand(by: salt, nil)
            unsafe expand(by: passphrase, nil)
        }
        let text = Array("OxychromaticBlowfishSwatDynamite".utf8)
        for pair in stride(from: 0, to: Self.blockBytes, by: 8) {
            var (left, right) = (Self.word(text, pair), Self.word(text, pair + 4))
            for _ in 0..<64 { encipher(&left, &right) }
            for place in 0..<4 {
                unsafe block[pair + place] = UInt8(truncatingIfNeeded: left >> (8 * place))
                unsafe block[pair + 4 + place] = UInt8(truncatingIfNeeded: right >> (8 * place))
            }
        }
    }

    private static func word(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        bytes[place..<(place + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func expand(by key: UnsafeMutablePointer<UInt8>, _ data: UnsafeMutablePointer<UInt8>?) {
        for place in 0..<18 { unsafe state[place] ^= Self.word(key, place) }
        var (left, right): (UInt32, UInt32) = (0, 0)
        for place in stride(from: 0, to: Self.stateWords, by: 2) {
            if let data = unsafe data {
                unsafe left ^= Self.word(data, place)
                unsafe right ^= Self.word(data, place + 1)
            }
            encipher(&left, &right)
            unsafe state[place] = left
            unsafe state[place + 1] = right
        }
    }

    /// A word of a hash, which begins again at its end.
    private static func word(_ hash: UnsafeMutablePointer<UInt8>, _ number: Int) -> UInt32 {
        let start = number * 4 & (hashBytes - 1)
        let (first, second) = unsafe (UInt32(hash[start]), UInt32(hash[start + 1]))
        let (third, fourth) = unsafe (UInt32(hash[start + 2]), UInt32(hash[start + 3]))
        return first << 24 | second << 16 | third << 8 | fourth
    }

    private func encipher(_ left: inout UInt32, _ right: inout UInt32) {
        var (one, other) = unsafe (left ^ state[0], right)
        for round in stride(from: 1, through: 15, by: 2) {
            unsafe other ^= mix(one) ^ state[round]
            unsafe one ^= mix(other) ^ state[round + 1]
        }
        unsafe left = other ^ state[17]
        right = one
    }

    private func mix(_ word: UInt32) -> UInt32 {
        let boxes = unsafe state + 18
        let (first, second) = unsafe (boxes[Int(word >> 24)], boxes[256 + Int(word >> 16 & 0xFF)])
        let (third, fourth) = unsafe (boxes[512 + Int(word >> 8 & 0xFF)], boxes[768 + Int(word & 0xFF)])
        return ((first &+ second) ^ third) &+ fourth
    }
}
