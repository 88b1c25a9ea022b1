package import CofferCore
package import CofferMemory

/// Converts a key from the usual file formats to its raw bytes and type, which the daemon requires.
///
/// It reads PKCS#8 (RFC 8410) and public keys of X.509, in PEM or DER, and private keys of OpenSSH without a
/// passphrase.
package struct KeyInput: ~Copyable {
    /// The raw bytes, or the whole input if its format is unknown.
    package let bytes: SecretBytes
    /// The type that the format records; `nil` for raw bytes.
    package let kind: Kind?

    /// The type that the format of a key records.
    package struct Kind: Equatable, Sendable {
        /// The algorithm.
        package let type: KeyType
        /// Whether it is the private half.
        package let isPrivate: Bool

        package init(type: KeyType, isPrivate: Bool) {
            self.type = type
            self.isPrivate = isPrivate
        }

        /// The class, as a value of the attribute.
        package var keyClass: String { isPrivate ? "private" : "public" }
    }

    /// Consumes the value and returns its bytes.
    package consuming func takeBytes() -> SecretBytes { bytes }
}

extension KeyInput {
    /// Reads a key.
    ///
    /// - Parameter input: The whole file. 32 bytes are a raw key. Input that is neither DER nor PEM is passed
    ///   on unchecked, and the daemon checks it. Of a PEM text, the first block with a key is used.
    /// - Throws: `param` if the key is encrypted, of another type, or malformed.
    package init(from input: consuming SecretBytes) throws(CofferError) {
        let isDER = input.withBytes { $0.isDER }
        let isPEM = input.withBytes { $0.contains("-----BEGIN ".utf8) }
        if input.count == KeyType.keyBytes || !(isDER || isPEM) {
            self.init(bytes: input, kind: nil)
        } else if isDER {
            self = try Self.decode(input, labelled: nil)
        } else {
            let block = try input.withBytes { (text) throws(CofferError) in try PEM(.key).block(in: text) }
            let label = block.label
            self = try Self.decode(block.takeBytes(), labelled: label)
        }
    }

    private static func decode(_ input: borrowing SecretBytes, labelled label: String?) throws(CofferError) -> KeyInput
    {
        try input.withBytes { (bytes) throws(CofferError) in
            let found: FoundKey
            switch label {
            case "ENCRYPTED PRIVATE KEY":
                throw .encryptedKey("decrypt it on the way: openssl pkey -in FILE | coffer keychain add --class key")
            case "OPENSSH PRIVATE KEY": found = try FoundKey(openSSH: bytes)
            default: found = try FoundKey(der: bytes)
            }
            if label == "PRIVATE KEY" && !found.kind.isPrivate || label == "PUBLIC KEY" && found.kind.isPrivate {
                throw .malformedKey
            }
            do {
                return KeyInput(bytes: try SecretBytes(copying: bytes.extracting(found.place)), kind: found.kind)
            } catch {
                throw .noSecretMemory
            }
        }
    }
}

extension PEM.Subject {
    fileprivate static let key = PEM.Subject(
        name: "the key",
        labels: ["PRIVATE KEY", "PUBLIC KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"],
        hint: "give a key of ed25519 or x25519, as 'openssl genpkey' writes it, or its 32 raw bytes"
    )
}

extension CofferError {
    fileprivate static let malformedKey = PEM.Subject.key.refusal("it is malformed, or of a form that is not known")
    fileprivate static let otherKey = PEM.Subject.key.refusal("it is neither of ed25519 nor of x25519")

    fileprivate static func encryptedKey(_ hint: String) -> CofferError {
        CofferError(.param, "can't read the key: it is encrypted", hint: hint)
    }
}

/// The location of the raw key in the input.
private struct FoundKey {
    let place: Range<Int>
    let kind: KeyInput.Kind
}

// MARK: - PKCS#8, and the public keys of X.509

extension FoundKey {
    init(der bytes: RawSpan) throws(CofferError) {
        var outer = Cursor(0..<bytes.byteCount)
        var fields = Cursor(try outer.element(0x30, in: bytes))
        try outer.finish()
        let isPrivate = !fields.isNext(0x30, in: bytes)
        let version = isPrivate ? try Self.version(&fields, in: bytes) : 0
        let type = try Self.algorithm(&fields, in: bytes)
        if isPrivate {
            var inner = Cursor(try fields.element(0x04, in: bytes))
            place = try inner.element(0x04, in: bytes)
            try inner.finish()
            if fields.isNext(0xA0, in: bytes) { _ = try fields.element(0xA0, in: bytes) }
            if version == 1 && fields.isNext(0x81, in: bytes) { _ = try fields.element(0x81, in: bytes) }
        } else {
            let bits = try fields.element(0x03, in: bytes)
            // The first byte is the number of unused bits.
            guard bits.count > 0, bytes.byte(at: bits.lowerBound) == 0 else { throw .malformedKey }
            place = (bits.lowerBound + 1)..<bits.upperBound
        }
        try fields.finish()
        guard place.count == KeyType.keyBytes else { throw .malformedKey }
        kind = KeyInput.Kind(type: type, isPrivate: isPrivate)
    }

    private static func version(_ fields: inout Cursor, in bytes: RawSpan) throws(CofferError) -> UInt8 {
        let version = try fields.element(0x02, in: bytes)
        guard version.count == 1, bytes.byte(at: version.lowerBound) <= 1 else { throw .malformedKey }
        return bytes.byte(at: version.lowerBound)
    }

    private static func algorithm(_ fields: inout Cursor, in bytes: RawSpan) throws(CofferError) -> KeyType {
        let types: [[UInt8]: KeyType] = [[0x2B, 0x65, 0x6E]: .x25519, [0x2B, 0x65, 0x70]: .ed25519]
        var parts = Cursor(try fields.element(0x30, in: bytes))
        let name = try parts.element(0x06, in: bytes)
        guard let type = types.first(where: { bytes.has($0.key, at: name) })?.value else { throw .otherKey }
        try parts.finish()
        return type
    }
}

// MARK: - OpenSSH

extension FoundKey {
    /// The format of OpenSSH's `PROTOCOL.key`: one key, without a cipher.
    init(openSSH bytes: RawSpan) throws(CofferError) {
        var fields = Cursor(0..<bytes.byteCount)
        guard bytes.has("openssh-key-v1\0".utf8, at: try fields.take(15)) else { throw .malformedKey }
        let cipher = try fields.string(in: bytes)
        let derivation = try fields.string(in: bytes)
        let options = try fields.string(in: bytes)
        guard bytes.has("none".utf8, at: cipher) else {
            throw .encryptedKey("take the passphrase away from a copy, by 'ssh-keygen -p', and add that")
        }
        guard bytes.has("none".utf8, at: derivation), options.isEmpty, try fields.number(4, in: bytes) == 1 else {
            throw .malformedKey
        }
        var outside = Cursor(try fields.string(in: bytes))
        var inside = Cursor(try fields.string(in: bytes))
        try fields.finish()
        guard bytes.has("ssh-ed25519".utf8, at: try outside.string(in: bytes)) else { throw .otherKey }
        let published = try outside.string(in: bytes)
        try outside.finish()
        guard try inside.number(4, in: bytes) == inside.number(4, in: bytes),
            bytes.has("ssh-ed25519".utf8, at: try inside.string(in: bytes))
        else { throw .malformedKey }
        let publicKey = try inside.string(in: bytes)
        let pair = try inside.string(in: bytes)
        _ = try inside.string(in: bytes)
        try inside.finishPadding(in: bytes)
        let count = KeyType.keyBytes
        let copies = [publicKey, pair.upperBound - min(count, pair.count)..<pair.upperBound]
        guard published.count == count, pair.count == 2 * count,
            copies.allSatisfy({ bytes.has(published.map { bytes.byte(at: $0) }, at: $0) })
        else { throw .malformedKey }
        place = pair.lowerBound..<(pair.lowerBound + count)
        kind = KeyInput.Kind(type: .ed25519, isPrivate: true)
    }
}

/// Reads the parts of a key one after the other, and returns the place of each.
private struct Cursor {
    private var place: Int
    private let end: Int

    init(_ range: Range<Int>) {
        place = range.lowerBound
        end = range.upperBound
    }

    mutating func take(_ count: Int) throws(CofferError) -> Range<Int> {
        guard count <= end - place else { throw .malformedKey }
        defer { place += count }
        return place..<(place + count)
    }

    /// A big-endian number.
    mutating func number(_ byteCount: Int, in bytes: RawSpan) throws(CofferError) -> Int {
        try take(byteCount).reduce(0) { $0 << 8 | Int(bytes.byte(at: $1)) }
    }

    /// A string of SSH.
    mutating func string(in bytes: RawSpan) throws(CofferError) -> Range<Int> { try take(number(4, in: bytes)) }

    /// Whether an element of DER with this tag is next.
    func isNext(_ tag: UInt8, in bytes: RawSpan) -> Bool { place < end && bytes.byte(at: place) == tag }

    /// The content of an element of DER.
    mutating func element(_ tag: UInt8, in bytes: RawSpan) throws(CofferError) -> Range<Int> {
        guard try number(1, in: bytes) == tag else { throw .malformedKey }
        let short = try number(1, in: bytes)
        if short < 0x80 { return try take(short) }
        // The length of these keys never needs more than two bytes.
        let digits = short - 0x80
        guard (1...2).contains(digits) else { throw .malformedKey }
        let length = try number(digits, in: bytes)
        guard length >= (digits == 1 ? 0x80 : 0x100) else { throw .malformedKey }
        return try take(length)
    }

    func finish() throws(CofferError) { if place != end { throw .malformedKey } }

    /// Checks that only the padding of the last block of OpenSSH remains: 1, 2, 3 and so on.
    func finishPadding(in bytes: RawSpan) throws(CofferError) {
        guard end - place < 8, bytes.has((1...7).prefix(end - place), at: place..<end) else { throw .malformedKey }
    }
}
