internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// The forms in DER that keys of RSA and ECDSA have in files.
enum KeyForms {
    private typealias Tag = DERElement.Tag

    /// The form in which a key is stored, of the same key in PKCS#8, PKCS#1 or SEC1, or a public key of X.509.
    static func stored(_ bytes: RawSpan) throws(CofferError) -> SecretBytes {
        do { return try convert(bytes) } catch let error as CofferError { throw error } catch is DERError {
            throw .malformedKey
        } catch CryptoError.unusableKey { throw .malformedKey } catch { throw .noSecretMemory }
    }

    private static func convert(_ bytes: RawSpan) throws -> SecretBytes {
        var outer = DERReader(0..<bytes.byteCount)
        var fields = DERReader(try outer.next(Tag.sequence, "the key", in: bytes).content)
        try outer.finish("the input")
        guard try fields.nextIfPresent(Tag.integer, in: bytes) != nil else { return try SecretBytes(copying: bytes) }
        if let algorithm = try fields.nextIfPresent(Tag.sequence, in: bytes) {
            let key = try fields.next(Tag.octetString, "the private key", in: bytes).content
            let identifier = bytes.copy(algorithm.whole)
            guard let algorithm = EncodedKey.Algorithm.allCases.first(where: { $0.identifier == identifier }) else {
                throw CofferError.otherKey
            }
            guard algorithm != .rsa else { return try KeyEncoder.rsa(pkcs1: bytes.extracting(key)) }
            return try sec1(bytes.extracting(key), on: algorithm)
        }
        guard try fields.nextIfPresent(Tag.octetString, in: bytes) != nil else {
            return try KeyEncoder.rsa(pkcs1: bytes)
        }
        return try sec1(bytes, on: nil)
    }

    /// Converts the ECPrivateKey of SEC1, whose curve may be said outside of it.
    private static func sec1(
        _ bytes: RawSpan,
        on known: EncodedKey.Algorithm?
    ) throws -> SecretBytes {
        var outer = DERReader(0..<bytes.byteCount)
        var fields = DERReader(try outer.next(Tag.sequence, "the private key", in: bytes).content)
        try outer.finish("the private key")
        _ = try fields.next(Tag.integer, "the version", in: bytes)
        let number = try fields.next(Tag.octetString, "the private number", in: bytes).content
        let curve = try fields.nextIfPresent(Tag.field(0, isConstructed: true), in: bytes)
        let named = curve.flatMap { curve in
            EncodedKey.Algorithm.allCases.first { $0 != .rsa && bytes.copy(curve.content) == $0.curve }
        }
        guard let algorithm = curve == nil ? known : named, known == nil || algorithm == known else {
            throw CofferError.otherKey
        }
        guard let point = try fields.nextIfPresent(Tag.field(1, isConstructed: true), in: bytes) else {
            throw CofferError(
                .param,
                "can't read the key: its public half is missing",
                hint: "add it on the way: 'openssl pkey -in FILE | coffer keychain add --class key'"
            )
        }
        try fields.finish("the private key")
        var inner = DERReader(point.content)
        let bits = try inner.next(Tag.bitString, "the public point", in: bytes)
        let place = try bits.bitStringBytes(in: bytes, "the public point")
        return try KeyEncoder.ecdsa(algorithm, number: bytes.extracting(number), point: bytes.copy(place))
    }
}
