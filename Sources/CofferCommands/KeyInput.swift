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

    /// Reads a key.
    ///
    /// - Parameter input: The whole file. 32 bytes are a raw key. Input that is neither DER nor PEM is passed
    ///   on unchecked, and the daemon checks it. Of a PEM text, the first block with a key is used.
    /// - Throws: `param` if the key is encrypted, of another type, or malformed.
    package init(from input: consuming SecretBytes) throws(CofferError) {
        let isDER = input.withBytes { bytes in bytes.byteCount > 0 && bytes.byte(at: 0) == 0x30 }
        let isPEM = input.withBytes { bytes in bytes.contains("-----BEGIN ") }
        if input.count == KeyType.keyBytes || !(isDER || isPEM) {
            self.init(input, nil)
        } else if isDER {
            self = try Self.decode(input, labelled: nil)
        } else {
            let block = try input.withBytes { (bytes) throws(CofferError) in
                try PEM(bytes.byteCount, .key).block(in: bytes)
            }
            let label = block.label
            self = try Self.decode(block.takeBytes(), labelled: label)
        }
    }

    private init(_ bytes: consuming SecretBytes, _ kind: Kind?) {
        self.bytes = bytes
        self.kind = kind
    }

    /// Consumes the value and returns its bytes.
    package consuming func takeBytes() -> SecretBytes { bytes }

    private static func decode(_ input: borrowing SecretBytes, labelled label: String?) throws(CofferError) -> KeyInput
    {
        if label == "ENCRYPTED PRIVATE KEY" {
            throw refusal(
                .encrypted,
                hint: "decrypt it on the way: openssl pkey -in FILE | coffer keychain add --class key"
            )
        }
        return try input.withBytes { (bytes) throws(CofferError) in
            let found: FoundKey
            do throws(Fault) {
                found = try label == "OPENSSH PRIVATE KEY" ? FoundKey(openSSH: bytes) : FoundKey(der: bytes)
                if label == "PRIVATE KEY" && !found.kind.isPrivate || label == "PUBLIC KEY" && found.kind.isPrivate {
                    throw .malformed
                }
            } catch .encrypted {
                throw refusal(
                    .encrypted,
                    hint: "take the passphrase away from a copy, by 'ssh-keygen -p', and add that"
                )
            } catch {
                throw refusal(error)
            }
            do {
                return KeyInput(try SecretBytes(copying: bytes.extracting(found.place)), found.kind)
            } catch {
                throw .noSecretMemory
            }
        }
    }

    private static func refusal(_ fault: Fault, hint: String = PEM.Subject.key.hint) -> CofferError {
        CofferError(.param, "can't read the key: \(fault.words)", hint: hint)
    }
}

extension PEM.Subject {
    fileprivate static let key = PEM.Subject(
        name: "the key",
        labels: ["PRIVATE KEY", "PUBLIC KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"],
        hint: "give a key of ed25519 or x25519, as 'openssl genpkey' writes it, or its 32 raw bytes"
    )
}

/// The reason for refusing a key.
private enum Fault: Error {
    case encrypted
    case otherKind
    case malformed

    var words: String {
        switch self {
        case .encrypted: "it is encrypted"
        case .otherKind: "it is neither of ed25519 nor of x25519"
        case .malformed: "it is malformed, or of a form that is not known"
        }
    }
}

/// The location of the raw key in the input.
private struct FoundKey {
    let place: Range<Int>
    let kind: KeyInput.Kind

    // MARK: PKCS#8, and the public keys of X.509

    init(der bytes: RawSpan) throws(Fault) {
        var outer = Elements(0..<bytes.byteCount)
        var fields = Elements(try outer.next(0x30, in: bytes))
        try outer.finish()
        if fields.isNext(0x30, in: bytes) {
            let type = try Self.algorithm(&fields, in: bytes)
            let bits = try fields.next(0x03, in: bytes)
            try fields.finish()
            // The first byte is the number of unused bits.
            guard bits.count == KeyType.keyBytes + 1, bytes.byte(at: bits.lowerBound) == 0 else { throw .malformed }
            self.init(place: bits.dropFirst().startIndex..<bits.upperBound, kind: .init(type: type, isPrivate: false))
            return
        }
        let version = try fields.next(0x02, in: bytes)
        guard version.count == 1, bytes.byte(at: version.lowerBound) <= 1 else { throw .malformed }
        let type = try Self.algorithm(&fields, in: bytes)
        var inner = Elements(try fields.next(0x04, in: bytes))
        let key = try inner.next(0x04, in: bytes)
        try inner.finish()
        if fields.isNext(0xA0, in: bytes) { _ = try fields.next(0xA0, in: bytes) }
        if bytes.byte(at: version.lowerBound) == 1 && fields.isNext(0x81, in: bytes) {
            _ = try fields.next(0x81, in: bytes)
        }
        try fields.finish()
        guard key.count == KeyType.keyBytes else { throw .malformed }
        self.init(place: key, kind: .init(type: type, isPrivate: true))
    }

    private init(place: Range<Int>, kind: KeyInput.Kind) {
        self.place = place
        self.kind = kind
    }

    private static func algorithm(_ fields: inout Elements, in bytes: RawSpan) throws(Fault) -> KeyType {
        var parts = Elements(try fields.next(0x30, in: bytes))
        let name = try parts.next(0x06, in: bytes)
        let prefix: [UInt8] = [0x2B, 0x65]
        guard name.count == 3, prefix.indices.allSatisfy({ bytes.byte(at: name.lowerBound + $0) == prefix[$0] })
        else { throw .otherKind }
        let type: KeyType
        switch bytes.byte(at: name.lowerBound + 2) {
        case 0x6E: type = .x25519
        case 0x70: type = .ed25519
        default: throw .otherKind
        }
        try parts.finish()
        return type
    }

    // MARK: OpenSSH

    /// The format of OpenSSH's `PROTOCOL.key`: one key, without a cipher.
    init(openSSH bytes: RawSpan) throws(Fault) {
        guard bytes.begins(with: "openssh-key-v1\0") else { throw .malformed }
        var fields = Strings(15..<bytes.byteCount)
        let cipher = try fields.next(in: bytes)
        let derivation = try fields.next(in: bytes)
        let options = try fields.next(in: bytes)
        guard bytes.isText("none", at: cipher) else { throw .encrypted }
        guard bytes.isText("none", at: derivation), options.isEmpty, try fields.number(in: bytes) == 1 else {
            throw .malformed
        }
        var outside = Strings(try fields.next(in: bytes))
        var inside = Strings(try fields.next(in: bytes))
        try fields.finish()
        guard bytes.isText("ssh-ed25519", at: try outside.next(in: bytes)) else { throw .otherKind }
        let published = try outside.next(in: bytes)
        try outside.finish()
        guard try inside.number(in: bytes) == inside.number(in: bytes),
            bytes.isText("ssh-ed25519", at: try inside.next(in: bytes))
        else { throw .malformed }
        let publicKey = try inside.next(in: bytes)
        let pair = try inside.next(in: bytes)
        _ = try inside.next(in: bytes)
        try inside.finishPadding(in: bytes)
        let count = KeyType.keyBytes
        guard published.count == count, publicKey.count == count, pair.count == 2 * count,
            (0..<count).allSatisfy({ index in
                let byte = bytes.byte(at: publicKey.lowerBound + index)
                return byte == bytes.byte(at: published.lowerBound + index)
                    && byte == bytes.byte(at: pair.lowerBound + count + index)
            })
        else { throw .malformed }
        let seed = pair.lowerBound..<(pair.lowerBound + count)
        self.init(place: seed, kind: .init(type: .ed25519, isPrivate: true))
    }
}

/// Reads consecutive elements of DER, and returns the range of each content.
private struct Elements {
    private var place: Int
    private let end: Int

    init(_ range: Range<Int>) {
        place = range.lowerBound
        end = range.upperBound
    }

    func isNext(_ tag: UInt8, in bytes: RawSpan) -> Bool { place < end && bytes.byte(at: place) == tag }

    mutating func next(_ tag: UInt8, in bytes: RawSpan) throws(Fault) -> Range<Int> {
        guard isNext(tag, in: bytes), end - place >= 2 else { throw .malformed }
        var length = Int(bytes.byte(at: place + 1))
        var content = place + 2
        if length >= 0x80 {
            // The length of these keys never needs more than two bytes.
            let digits = length - 0x80
            guard (1...2).contains(digits), end - content >= digits else { throw .malformed }
            length = (0..<digits).reduce(0) { $0 << 8 | Int(bytes.byte(at: content + $1)) }
            guard length >= (digits == 1 ? 0x80 : 0x100) else { throw .malformed }
            content += digits
        }
        guard length <= end - content else { throw .malformed }
        place = content + length
        return content..<place
    }

    func finish() throws(Fault) { if place != end { throw .malformed } }
}

/// Reads the strings of SSH, each after its length in four bytes.
private struct Strings {
    private var place: Int
    private let end: Int

    init(_ range: Range<Int>) {
        place = range.lowerBound
        end = range.upperBound
    }

    mutating func number(in bytes: RawSpan) throws(Fault) -> UInt32 {
        guard end - place >= 4 else { throw .malformed }
        defer { place += 4 }
        return (0..<4).reduce(0) { $0 << 8 | UInt32(bytes.byte(at: place + $1)) }
    }

    mutating func next(in bytes: RawSpan) throws(Fault) -> Range<Int> {
        let count = Int(try number(in: bytes))
        guard count <= end - place else { throw .malformed }
        defer { place += count }
        return place..<(place + count)
    }

    func finish() throws(Fault) { if place != end { throw .malformed } }

    /// Checks that only the padding of the last block remains: 1, 2, 3 and so on.
    func finishPadding(in bytes: RawSpan) throws(Fault) {
        guard end - place < 8, (0..<(end - place)).allSatisfy({ Int(bytes.byte(at: place + $0)) == $0 + 1 }) else {
            throw .malformed
        }
    }
}

extension RawSpan {
    /// Whether the bytes are at an offset.
    private func has(_ letters: [UInt8], at place: Int) -> Bool {
        byteCount - place >= letters.count && letters.indices.allSatisfy { byte(at: place + $0) == letters[$0] }
    }

    fileprivate func begins(with text: String) -> Bool { has(Array(text.utf8), at: 0) }

    fileprivate func isText(_ text: String, at range: Range<Int>) -> Bool {
        range.count == text.utf8.count && has(Array(text.utf8), at: range.lowerBound)
    }

    fileprivate func contains(_ text: String) -> Bool {
        let letters = Array(text.utf8)
        return (0..<byteCount).contains { has(letters, at: $0) }
    }
}
