package import CofferCore

/// A key of RSA or ECDSA as the keychain stores it, in DER: a private key as PKCS#8 (RFC 5208), a public key as the
/// SubjectPublicKeyInfo of X.509 (RFC 5280).
///
/// There is one form of each key, which libcrypto reads without a conversion (`d2i_AutoPrivateKey`, `d2i_PUBKEY`): no
/// attributes, the curve by its name and once, the public point uncompressed and always present.
package struct EncodedKey: Sendable {
    /// The kinds of keys that are stored so.
    package enum Algorithm: CaseIterable, Sendable {
        case rsa, p256, p384

        /// The type, as in the attribute `keyType`.
        package var type: StoredKeyType { self == .rsa ? .rsa : .ecdsa }

        /// The AlgorithmIdentifier in DER.
        package var identifier: [UInt8] {
            let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
            return switch self {
            case .rsa: [0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
            case .p256: [0x30, 0x13] + ecPublicKey + curve
            case .p384: [0x30, 0x10] + ecPublicKey + curve
            }
        }

        /// The identifier of the curve in DER; empty for RSA.
        package var curve: [UInt8] {
            switch self {
            case .rsa: []
            case .p256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
            case .p384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
            }
        }

        /// The bytes of a coordinate, and of a private key; 0 for RSA.
        package var coordinateBytes: Int {
            switch self {
            case .rsa: 0
            case .p256: 32
            case .p384: 48
            }
        }
    }

    /// The kind of key.
    package let algorithm: Algorithm
    /// The size: the bits of the modulus, or of the curve's field.
    package let bits: Int
    /// Whether it is the private half.
    package let isPrivate: Bool
    /// The public key as in the BIT STRING of a certificate: an RSAPublicKey in DER, or an uncompressed point.
    package let publicKey: [UInt8]
    /// The places of the numbers of a private key: n, e, d, p, q, d mod p-1, d mod q-1 and 1/q mod p of RSA, or the
    /// private number of ECDSA.
    package let numbers: [Range<Int>]

    /// Parses a key in its stored form.
    ///
    /// - Parameter bytes: The DER, and nothing after it.
    /// - Throws: What is wrong.
    package init(_ bytes: RawSpan) throws(DERError) {
        typealias Tag = DERElement.Tag
        var outer = DERReader(0..<bytes.byteCount)
        var fields = DERReader(try outer.next(Tag.sequence, "the key", in: bytes).content)
        try outer.finish("the input")
        let version = try fields.nextIfPresent(Tag.integer, in: bytes)
        if let version { try Self.check(version, is: 0, in: bytes) }
        let identifier = bytes.copy(try fields.next(Tag.sequence, "the algorithm", in: bytes).whole)
        guard let algorithm = Algorithm.allCases.first(where: { $0.identifier == identifier }) else {
            throw DERError("it is not RSA, and not ECDSA on P-256 or P-384")
        }
        let form = try (version == nil ? Self.publicKey : Self.privateKey)(&fields, algorithm, bytes)
        try fields.finish("the key")
        (self.algorithm, isPrivate) = (algorithm, version != nil)
        (bits, publicKey, numbers) = form
    }

    private typealias Form = (bits: Int, publicKey: [UInt8], numbers: [Range<Int>])

    private static func check(_ number: DERElement, is expected: UInt8, in bytes: RawSpan) throws(DERError) {
        guard bytes.copy(number.content) == [expected] else { throw DERError("it has a version that is not known") }
    }

    private static func publicKey(
        _ fields: inout DERReader,
        _ algorithm: Algorithm,
        _ bytes: RawSpan
    ) throws(DERError) -> Form {
        let bits = try fields.next(DERElement.Tag.bitString, "the public key", in: bytes)
        let place = try bits.bitStringBytes(in: bytes, "the public key")
        guard algorithm == .rsa else { return try point(at: place, on: algorithm, in: bytes) }
        var outer = DERReader(place)
        var numbers = DERReader(try outer.next(DERElement.Tag.sequence, "the public key", in: bytes).content)
        try outer.finish("the public key")
        let (n, e) = (try positive(&numbers, in: bytes), try positive(&numbers, in: bytes))
        try numbers.finish("the public key")
        return (try checkPublic(n, e, in: bytes), bytes.copy(place), [])
    }

    private static func privateKey(
        _ fields: inout DERReader,
        _ algorithm: Algorithm,
        _ bytes: RawSpan
    ) throws(DERError) -> Form {
        typealias Tag = DERElement.Tag
        var outer = DERReader(try fields.next(Tag.octetString, "the private key", in: bytes).content)
        var parts = DERReader(try outer.next(Tag.sequence, "the private key", in: bytes).content)
        try outer.finish("the private key")
        let version = try parts.next(Tag.integer, "the version", in: bytes)
        try check(version, is: algorithm == .rsa ? 0 : 1, in: bytes)
        guard algorithm != .rsa else { return try rsaNumbers(&parts, in: bytes) }
        let number = try parts.next(Tag.octetString, "the private number", in: bytes).content
        guard number.count == algorithm.coordinateBytes, number.contains(where: { bytes.byte(at: $0) != 0 }) else {
            throw DERError("its private number does not have the size of the curve")
        }
        let field = Tag.field(1, isConstructed: true)
        var inner = DERReader(try parts.next(field, "the public point", in: bytes).content)
        let bits = try inner.next(Tag.bitString, "the public point", in: bytes)
        try inner.finish("the public point")
        try parts.finish("the private key")
        var form = try point(at: bits.bitStringBytes(in: bytes, "the public point"), on: algorithm, in: bytes)
        form.numbers = [number]
        return form
    }

    private static func point(
        at place: Range<Int>,
        on algorithm: Algorithm,
        in bytes: RawSpan
    ) throws(DERError) -> Form {
        guard place.count == 1 + 2 * algorithm.coordinateBytes, bytes.byte(at: place.lowerBound) == 4 else {
            throw DERError("its public point is not uncompressed, or not of the curve's size")
        }
        return (algorithm.coordinateBytes * 8, bytes.copy(place), [])
    }

    // MARK: RSA

    private static func positive(_ reader: inout DERReader, in bytes: RawSpan) throws(DERError) -> Range<Int> {
        let number = try reader.next(DERElement.Tag.integer, "a number of the key", in: bytes)
        let place = number.content
        guard let first = place.first, bytes.byte(at: first) < 0x80 else { throw DERError("it has a negative number") }
        let hasZero = bytes.byte(at: first) == 0
        guard !hasZero || place.count > 1 && bytes.byte(at: first + 1) >= 0x80 else {
            throw DERError("it has a number that is 0, or not in its shortest form")
        }
        return hasZero ? place.dropFirst().startIndex..<place.upperBound : place
    }

    /// Checks the public numbers.
    ///
    /// - Returns: The bits of the modulus.
    private static func checkPublic(
        _ n: Range<Int>,
        _ e: Range<Int>,
        in bytes: RawSpan
    ) throws(DERError) -> Int {
        let bits = n.count * 8 - bytes.byte(at: n.lowerBound).leadingZeroBitCount
        guard (Limits.leastRSABits...Limits.rsaBits).contains(bits) else {
            throw DERError(
                "it is RSA of \(bits) bits, and \(Limits.leastRSABits) to \(Limits.rsaBits) can be stored"
            )
        }
        let isOdd = bytes.byte(at: n.upperBound - 1) & bytes.byte(at: e.upperBound - 1) & 1 == 1
        // NIST SP 800-56B: an exponent of more bits is a mistake, and makes verifying slow.
        guard isOdd, e.count <= 32, e.count > 1 || bytes.byte(at: e.lowerBound) > 1 else {
            throw DERError("its modulus or its public exponent is none of RSA")
        }
        return bits
    }

    private static func rsaNumbers(_ parts: inout DERReader, in bytes: RawSpan) throws(DERError) -> Form {
        var numbers: [Range<Int>] = []
        for _ in 0..<8 { numbers.append(try positive(&parts, in: bytes)) }
        try parts.finish("the private key")
        let bits = try checkPublic(numbers[0], numbers[1], in: bytes)
        guard isProduct(numbers[0], of: numbers[3], numbers[4], in: bytes) else {
            throw DERError("its modulus is not the product of its primes")
        }
        // A SEQUENCE of two INTEGERs, as they are in the private key, where nothing is between them.
        let end = numbers[1].upperBound
        var start = numbers[0].lowerBound
        if bytes.byte(at: start) >= 0x80 { start -= 1 }
        let header = lengthHeader(numbers[0].upperBound - start)
        let content = [DERElement.Tag.integer] + header + bytes.copy(start..<end)
        return (bits, [DERElement.Tag.sequence] + lengthHeader(content.count) + content, numbers)
    }

    private static func lengthHeader(_ count: Int) -> [UInt8] {
        count < 0x80
            ? [UInt8(count)]
            : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
    }

    /// Whether a number is the product of two others: digit by digit, so that nothing of them is copied.
    private static func isProduct(
        _ product: Range<Int>,
        of one: Range<Int>,
        _ other: Range<Int>,
        in bytes: RawSpan
    ) -> Bool {
        guard product.count <= one.count + other.count, one.count + other.count <= product.count + 1 else {
            return false
        }
        var (carry, difference): (UInt64, UInt64) = (0, 0)
        for digit in 0..<(one.count + other.count) {
            for place in max(0, digit - other.count + 1)..<min(one.count, digit + 1) {
                let factor = UInt64(bytes.byte(at: one.upperBound - 1 - place))
                carry += factor * UInt64(bytes.byte(at: other.upperBound - 1 - (digit - place)))
            }
            let expected = digit < product.count ? bytes.byte(at: product.upperBound - 1 - digit) : 0
            difference |= carry & 0xFF ^ UInt64(expected)
            carry >>= 8
        }
        return difference | carry == 0
    }
}
