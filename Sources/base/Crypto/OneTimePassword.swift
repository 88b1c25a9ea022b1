package import CofferMemory
internal import CSodium

/// One-time passwords of RFC 4226 and RFC 6238.
package enum OneTimePassword {
    /// The hash function of the HMAC.
    package enum Algorithm: String, CaseIterable, Sendable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"
    }

    /// Computes a code.
    ///
    /// - Parameters:
    ///   - counter: The counter; of a time-based code, the number of the period.
    ///   - key: The shared key.
    ///   - algorithm: The hash function.
    ///   - digits: The number of digits, 6 to 8.
    /// - Returns: The digits, as text.
    package static func code(
        counter: UInt64,
        key: borrowing SecretBytes,
        _ algorithm: Algorithm,
        digits: Int
    ) throws(CryptoError) -> SecretBytes {
        precondition((6...8).contains(digits))
        var number = try number(counter: counter, key: key, algorithm)
        var text = try allocateSecret(digits)
        unsafe text.withUnsafeMutableBytes { buffer in
            for place in buffer.indices.reversed() {
                unsafe buffer[place] = UInt8(ascii: "0") + UInt8(number % 10)
                number /= 10
            }
        }
        return text
    }

    /// The characters of Steam's codes.
    private static let steamCharacters = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)

    /// Computes a code of Steam, which has five characters of its own alphabet, the lowest first.
    ///
    /// - Parameters:
    ///   - counter: The number of the period.
    ///   - key: The shared key.
    package static func steamCode(counter: UInt64, key: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        var number = try number(counter: counter, key: key, .sha1)
        let radix = UInt32(steamCharacters.count)
        var text = try allocateSecret(5)
        unsafe text.withUnsafeMutableBytes { buffer in
            for place in buffer.indices {
                unsafe buffer[place] = steamCharacters[Int(number % radix)]
                number /= radix
            }
        }
        return text
    }

    /// The 31 bits of RFC 4226 of which a code is made.
    private static func number(
        counter: UInt64,
        key: borrowing SecretBytes,
        _ algorithm: Algorithm
    ) throws(CryptoError) -> UInt32 {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * $0)) }
        let mac = try unsafe authenticator(of: message.span.bytes, key, algorithm)
        return mac.withBytes { bytes in
            let start = Int(bytes.byte(at: bytes.byteCount - 1) & 0xF)
            return (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes.byte(at: start + $1)) } & 0x7FFF_FFFF
        }
    }

    private static func authenticator(
        of message: RawSpan,
        _ key: borrowing SecretBytes,
        _ algorithm: Algorithm
    ) throws(CryptoError) -> SecretBytes {
        if algorithm == .sha1 { return try SHA1.authenticator(of: message, under: key) }
        Sodium.prepare()
        let isShort = algorithm == .sha256
        var output = try allocateSecret(isShort ? crypto_auth_hmacsha256_bytes() : crypto_auth_hmacsha512_bytes())
        clearingUp {
            unsafe output.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { result in
                    key.withBytes { key in
                        unsafe key.withPointer { rawKey in
                            unsafe message.withPointer { bytes in
                                isShort
                                    ? unsafe hmac256(result, bytes, message.byteCount, rawKey, key.byteCount)
                                    : unsafe hmac512(result, bytes, message.byteCount, rawKey, key.byteCount)
                            }
                        }
                    }
                }
            }
        }
        return output
    }

    private static func hmac256(
        _ result: UnsafeMutablePointer<UInt8>,
        _ bytes: UnsafePointer<UInt8>,
        _ count: Int,
        _ key: UnsafePointer<UInt8>,
        _ keyCount: Int
    ) {
        var state = crypto_auth_hmacsha256_state()
        unsafe crypto_auth_hmacsha256_init(&state, key, keyCount)
        unsafe crypto_auth_hmacsha256_update(&state, bytes, UInt64(count))
        unsafe crypto_auth_hmacsha256_final(&state, result)
        unsafe sodium_memzero(&state, MemoryLayout.size(ofValue: state))
    }

    private static func hmac512(
        _ result: UnsafeMutablePointer<UInt8>,
        _ bytes: UnsafePointer<UInt8>,
        _ count: Int,
        _ key: UnsafePointer<UInt8>,
        _ keyCount: Int
    ) {
        var state = crypto_auth_hmacsha512_state()
        unsafe crypto_auth_hmacsha512_init(&state, key, keyCount)
        unsafe crypto_auth_hmacsha512_update(&state, bytes, UInt64(count))
        unsafe crypto_auth_hmacsha512_final(&state, result)
        unsafe sodium_memzero(&state, MemoryLayout.size(ofValue: state))
    }
}

/// HMAC with SHA-1 of RFC 2104 and RFC 3174, for one-time passwords alone: most services still use it, and libsodium does
/// not have it.
private enum SHA1 {
    private static let blockBytes = 64
    private static let digestBytes = 20

    static func authenticator(
        of message: RawSpan,
        under key: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let inner = try digest(of: message, after: key, masked: 0x36)
        return try inner.withBytes { (bytes) throws(CryptoError) in try digest(of: bytes, after: key, masked: 0x5C) }
    }

    /// The digest of a masked key, which fills a block, and a message.
    private static func digest(
        of message: RawSpan,
        after key: borrowing SecretBytes,
        masked mask: UInt8
    ) throws(CryptoError) -> SecretBytes {
        var block = try allocateSecret(blockBytes)
        if key.count > blockBytes {
            let short = try key.withBytes { (bytes) throws(CryptoError) in try digest(of: bytes) }
            short.withBytes { block.copy($0, to: 0) }
        } else {
            key.withBytes { block.copy($0, to: 0) }
        }
        unsafe block.withUnsafeMutableBytes { buffer in
            for place in buffer.indices { unsafe buffer[place] ^= mask }
        }
        var all = try allocateSecret(blockBytes + message.byteCount)
        block.withBytes { all.copy($0, to: 0) }
        all.copy(message, to: blockBytes)
        return try all.withBytes { (bytes) throws(CryptoError) in try digest(of: bytes) }
    }

    private static func digest(of message: RawSpan) throws(CryptoError) -> SecretBytes {
        let length = message.byteCount
        var padded = try allocateSecret((length + 8) / blockBytes * blockBytes + blockBytes)
        padded.copy(message, to: 0)
        let end = padded.count
        var digest = try allocateSecret(digestBytes)
        var words = try allocateSecret(80 * 4)
        clearingUp {
            unsafe padded.withUnsafeMutableBytes { buffer in
                unsafe buffer[length] = 0x80
                for place in 0..<8 {
                    unsafe buffer[end - 1 - place] = UInt8(truncatingIfNeeded: (length << 3) >> (8 * place))
                }
                unsafe words.withUnsafeMutableBytes { words in
                    unsafe digest.withUnsafeMutableBytes { output in
                        unsafe compress(buffer, words.bindMemory(to: UInt32.self), output)
                    }
                }
            }
        }
        return digest
    }

    private static func compress(
        _ message: UnsafeMutableRawBufferPointer,
        _ schedule: UnsafeMutableBufferPointer<UInt32>,
        _ output: UnsafeMutableRawBufferPointer
    ) {
        var state: (UInt32, UInt32, UInt32, UInt32, UInt32) =
            (0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0)
        for start in stride(from: 0, to: message.count, by: blockBytes) {
            for place in 0..<80 {
                unsafe schedule[place] =
                    place < 16
                    ? UInt32(bigEndian: message.loadUnaligned(fromByteOffset: start + 4 * place, as: UInt32.self))
                    : (schedule[place - 3] ^ schedule[place - 8] ^ schedule[place - 14] ^ schedule[place - 16]).rotated(
                        1
                    )
            }
            var (a, b, c, d, e) = state
            for place in 0..<80 {
                let mixed = Self.mix(b, c, d, round: place / 20)
                (a, b, c, d, e) = (unsafe a.rotated(5) &+ mixed &+ e &+ schedule[place], a, b.rotated(30), c, d)
            }
            state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
        }
        for (place, word) in [state.0, state.1, state.2, state.3, state.4].enumerated() {
            unsafe output.storeBytes(of: word.bigEndian, toByteOffset: 4 * place, as: UInt32.self)
        }
    }

    private static func mix(_ b: UInt32, _ c: UInt32, _ d: UInt32, round: Int) -> UInt32 {
        switch round {
        case 0: (b & c | ~b & d) &+ 0x5A82_7999
        case 1: (b ^ c ^ d) &+ 0x6ED9_EBA1
        case 2: (b & c | b & d | c & d) &+ 0x8F1B_BCDC
        default: (b ^ c ^ d) &+ 0xCA62_C1D6
        }
    }
}

extension UInt32 {
    fileprivate func rotated(_ count: UInt32) -> UInt32 { (self << count) | (self >> (32 - count)) }
}
