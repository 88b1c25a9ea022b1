internal import CofferCore
package import CofferMemory

/// Builds keys in the form of ``EncodedKey`` from the forms of other programs.
package enum KeyEncoder {
    /// A private key of RSA from the numbers that OpenSSH keeps, which are unsigned and big-endian.
    ///
    /// - Throws: `unusableKey` if a number is too long, or a prime is even; `noMemory` if memory can't be locked.
    package static func rsa(
        n: RawSpan,
        e: RawSpan,
        d: RawSpan,
        inverse: RawSpan,
        p: RawSpan,
        q: RawSpan
    ) throws(CryptoError) -> SecretBytes {
        let limit = Limits.rsaBits / 8 + 1
        guard max(n.byteCount, e.byteCount, d.byteCount) <= limit,
            max(p.byteCount, q.byteCount, inverse.byteCount) <= limit
        else { throw .unusableKey }
        let first = try remainder(of: d, byPredecessorOf: p)
        let second = try remainder(of: d, byPredecessorOf: q)
        let total = n.byteCount + e.byteCount + d.byteCount + p.byteCount + q.byteCount + inverse.byteCount
        var writer = try DERWriter(capacity: total + first.count + second.count + 128)
        let end = writer.place
        writer.prependInteger(inverse)
        second.withBytes { writer.prependInteger($0) }
        first.withBytes { writer.prependInteger($0) }
        writer.prependInteger(q)
        writer.prependInteger(p)
        writer.prependInteger(d)
        writer.prependInteger(e)
        writer.prependInteger(n)
        writer.prepend([DERElement.Tag.integer, 1, 0])
        writer.wrap(DERElement.Tag.sequence, until: end)
        return try finish(writer, .rsa, end)
    }

    /// A private key of RSA from its PKCS#1 in DER.
    package static func rsa(pkcs1: RawSpan) throws(CryptoError) -> SecretBytes {
        var writer = try DERWriter(capacity: pkcs1.byteCount + 64)
        let end = writer.place
        writer.prepend(pkcs1)
        return try finish(writer, .rsa, end)
    }

    /// A private key of ECDSA.
    ///
    /// - Parameters:
    ///   - algorithm: The curve.
    ///   - number: The private number, unsigned and big-endian.
    ///   - point: The public point, uncompressed.
    /// - Throws: `unusableKey` if the number is longer than the curve's; `noMemory` if memory can't be locked.
    package static func ecdsa(
        _ algorithm: EncodedKey.Algorithm,
        number: RawSpan,
        point: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        let count = algorithm.coordinateBytes
        let excess = max(0, number.byteCount - count)
        guard (0..<excess).allSatisfy({ number.byte(at: $0) == 0 }), point.count == 2 * count + 1 else {
            throw .unusableKey
        }
        var writer = try DERWriter(capacity: 4 * count + 128)
        let end = writer.place
        writer.prepend([0] + point)
        writer.wrap(DERElement.Tag.bitString, until: end)
        writer.wrap(DERElement.Tag.field(1, isConstructed: true), until: end)
        let start = writer.place
        writer.prepend(number.extracting(excess..<number.byteCount))
        writer.prepend([UInt8](repeating: 0, count: max(0, count - number.byteCount)))
        writer.wrap(DERElement.Tag.octetString, until: start)
        writer.prepend([DERElement.Tag.integer, 1, 1])
        writer.wrap(DERElement.Tag.sequence, until: end)
        return try finish(writer, algorithm, end)
    }

    private static func finish(
        _ writer: consuming DERWriter,
        _ algorithm: EncodedKey.Algorithm,
        _ end: Int
    ) throws(CryptoError) -> SecretBytes {
        var writer = writer
        writer.wrap(DERElement.Tag.octetString, until: end)
        writer.prepend(algorithm.identifier)
        writer.prepend([DERElement.Tag.integer, 1, 0])
        writer.wrap(DERElement.Tag.sequence, until: end)
        return try writer.finish()
    }

    /// The remainder of a division by a number less one, bit by bit, which takes the same time for all numbers of a size.
    private static func remainder(of number: RawSpan, byPredecessorOf prime: RawSpan) throws(CryptoError) -> SecretBytes
    {
        // A prime is odd: its predecessor differs in the last bit alone.
        let count = prime.byteCount
        guard count > 0, prime.byte(at: count - 1) & 1 == 1,
            count > 1 || prime.byte(at: 0) > 1
        else { throw .unusableKey }
        var divisor = try allocateSecret(count)
        divisor.copy(prime, to: 0)
        var rest = try allocateSecret(count + 1)
        var trial = try allocateSecret(count + 1)
        unsafe divisor.withUnsafeMutableBytes { divisor in
            unsafe divisor[count - 1] &= 0xFE
            unsafe rest.withUnsafeMutableBytes { rest in
                unsafe trial.withUnsafeMutableBytes { trial in
                    for bit in 0..<(number.byteCount * 8) {
                        var carry = number.byte(at: bit / 8) >> UInt8(7 - bit % 8) & 1
                        for place in rest.indices.reversed() {
                            let digit = unsafe rest[place]
                            unsafe rest[place] = digit << 1 | carry
                            carry = digit >> 7
                        }
                        var borrow: UInt16 = 0
                        for place in rest.indices.reversed() {
                            let subtrahend = unsafe place == 0 ? 0 : UInt16(divisor[place - 1])
                            let difference = unsafe UInt16(rest[place]) &- subtrahend &- borrow
                            unsafe trial[place] = UInt8(truncatingIfNeeded: difference)
                            borrow = difference >> 15
                        }
                        let keeps = UInt8(truncatingIfNeeded: borrow) &* 0xFF
                        for place in rest.indices {
                            unsafe rest[place] = rest[place] & keeps | trial[place] & ~keeps
                        }
                    }
                }
            }
        }
        return rest
    }
}
