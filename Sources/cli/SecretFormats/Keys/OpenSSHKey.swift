package import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// A private key in the format of OpenSSH's `PROTOCOL.key`: one key, encrypted or not.
package struct OpenSSHKey {
    /// The ciphers that `ssh-keygen -Z` writes.
    private static let ciphers: [(name: String, cipher: KeyFileCipher)] = [
        ("aes256-ctr", .blocks("AES-256-CTR", keyBytes: 32)), ("aes192-ctr", .blocks("AES-192-CTR", keyBytes: 24)),
        ("aes128-ctr", .blocks("AES-128-CTR", keyBytes: 16)), ("aes256-cbc", .blocks("AES-256-CBC", keyBytes: 32)),
        ("aes192-cbc", .blocks("AES-192-CBC", keyBytes: 24)), ("aes128-cbc", .blocks("AES-128-CBC", keyBytes: 16)),
        ("3des-cbc", .tripleDES), ("aes256-gcm@openssh.com", .gcm("AES-256-GCM", keyBytes: 32)),
        ("aes128-gcm@openssh.com", .gcm("AES-128-GCM", keyBytes: 16)),
        ("chacha20-poly1305@openssh.com", .chaCha20Poly1305),
    ]

    private let cipher: String
    private let options: Range<Int>
    private let published: Range<Int>
    private let sealed: Range<Int>
    /// The tag of a cipher that authenticates, behind the rest.
    private let tag: Range<Int>

    /// Reads what is not encrypted.
    init(_ bytes: RawSpan) throws(CofferError) {
        var fields = KeyCursor(0..<bytes.byteCount)
        guard bytes.has("openssh-key-v1\0".utf8, at: try fields.take(15)) else { throw .malformedKey }
        cipher = bytes.words(at: try fields.string(in: bytes))
        let derivation = bytes.words(at: try fields.string(in: bytes))
        options = try fields.string(in: bytes)
        guard derivation == (cipher == "none" ? "none" : "bcrypt"), cipher != "none" || options.isEmpty,
            try fields.number(4, in: bytes) == 1
        else { throw .malformedKey }
        published = try fields.string(in: bytes)
        sealed = try fields.string(in: bytes)
        tag = try fields.take(fields.remaining)
        guard cipher != "none" || tag.isEmpty else { throw .malformedKey }
    }

    /// Reads the key.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that it was created with.
    ///   - ask: Asks for the passphrase.
    func read(
        _ bytes: RawSpan,
        _ ask: () throws(CofferError) -> SecretBytes
    ) throws(CofferError) -> KeyInput {
        guard cipher != "none" else { return try read(bytes.extracting(sealed), 8, bytes) }
        guard let form = Self.ciphers.first(where: { $0.name == cipher })?.cipher else {
            throw PEM.Subject.key.refusal(
                "it is encrypted by \(quotedForDisplay(cipher)), which is not known",
                hint: "'ssh-keygen -p -Z aes256-ctr -f FILE' encrypts it by another cipher"
            )
        }
        var parts = KeyCursor(options)
        let salt = bytes.copy(try parts.string(in: bytes))
        let rounds = try parts.number(4, in: bytes)
        try parts.finish()
        guard !salt.isEmpty, salt.count <= 1024, (1...Limits.bcryptRounds).contains(rounds), !sealed.isEmpty,
            sealed.count % form.blockBytes == 0, tag.count == form.tagBytes
        else { throw .malformedKey }
        let passphrase = try ask()
        let opened: SecretBytes
        do {
            let key = try BcryptKey.derive(
                form.keyBytes + form.vectorBytes,
                from: passphrase,
                salt: salt,
                rounds: rounds
            )
            opened = try form.decrypt(bytes.extracting(sealed), tag: bytes.extracting(tag), key)
        } catch let failure as EncryptedKey.Failure { throw .notOpened(failure) } catch { throw .noSecretMemory }
        return try opened.withBytes { (inside) throws(CofferError) in
            var checks = KeyCursor(0..<inside.byteCount)
            guard try checks.number(4, in: inside) == checks.number(4, in: inside) else { throw .notOpened(.notOpened) }
            return try read(inside, form.blockBytes, bytes)
        }
    }

    /// Reads the part that may have been encrypted, which repeats the public key of the other part.
    private func read(_ inside: RawSpan, _ blockBytes: Int, _ bytes: RawSpan) throws(CofferError) -> KeyInput {
        var fields = KeyCursor(0..<inside.byteCount)
        guard try fields.number(4, in: inside) == fields.number(4, in: inside) else { throw .malformedKey }
        let key = try PrivateFields(&fields, in: inside)
        let comment = try fields.text(in: inside)
        try fields.finishPadding(of: blockBytes, in: inside)
        var outside = KeyCursor(published)
        guard try outside.text(in: bytes) == key.type else { throw .malformedKey }
        for number in key.published {
            guard inside.has(bytes.copy(try outside.string(in: bytes)), at: number) else { throw .malformedKey }
        }
        try outside.finish()
        return try key.input(comment, in: inside)
    }

    /// Reads a private key and its comment, as the agent protocol has them, which is as the encrypted part has them.
    package static func key(_ fields: inout KeyCursor, in bytes: RawSpan) throws(CofferError) -> KeyInput {
        let key = try PrivateFields(&fields, in: bytes)
        return try key.input(try fields.text(in: bytes), in: bytes)
    }
}

/// The fields of a private key.
private struct PrivateFields {
    let type: String
    private let numbers: [Range<Int>]
    /// Those that are public, in the order of the public key.
    let published: [Range<Int>]

    init(_ fields: inout KeyCursor, in bytes: RawSpan) throws(CofferError) {
        type = try fields.text(in: bytes)
        let form: (count: Int, published: [Int])
        switch type {
        case "ssh-ed25519": form = (2, [0])
        case "ssh-rsa": form = (6, [1, 0])
        case "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384": form = (3, [0, 1])
        default: throw .otherKey
        }
        var numbers: [Range<Int>] = []
        for _ in 0..<form.count { numbers.append(try fields.string(in: bytes)) }
        self.numbers = numbers
        published = form.published.map { numbers[$0] }
    }

    func input(_ comment: String, in bytes: RawSpan) throws(CofferError) -> KeyInput {
        let stored: StoredKeyType = type == "ssh-ed25519" ? .ed25519 : type == "ssh-rsa" ? .rsa : .ecdsa
        let key = try Self.encoded(type, numbers, bytes)
        return KeyInput(bytes: key, kind: KeyInput.Kind(type: stored, isPrivate: true), comment: comment)
    }

    /// The key as it is stored.
    private static func encoded(
        _ type: String,
        _ numbers: [Range<Int>],
        _ inside: RawSpan
    ) throws(CofferError) -> SecretBytes {
        do {
            switch type {
            case "ssh-ed25519":
                let count = KeyType.keyBytes
                let (point, pair) = (numbers[0], numbers[1])
                guard point.count == count, pair.count == 2 * count,
                    inside.has(inside.copy(point), at: pair.suffix(count))
                else { throw CofferError.malformedKey }
                return try SecretBytes(
                    copying: inside.extracting(pair.lowerBound..<(pair.lowerBound + count))
                )
            case "ssh-rsa":
                return try KeyEncoder.rsa(
                    n: inside.extracting(numbers[0]),
                    e: inside.extracting(numbers[1]),
                    d: inside.extracting(numbers[2]),
                    inverse: inside.extracting(numbers[3]),
                    p: inside.extracting(numbers[4]),
                    q: inside.extracting(numbers[5])
                )
            default:
                let algorithm: EncodedKey.Algorithm = type.hasSuffix("256") ? .p256 : .p384
                guard inside.has(type.utf8.dropFirst("ecdsa-sha2-".utf8.count), at: numbers[0]) else {
                    throw CofferError.malformedKey
                }
                return try KeyEncoder.ecdsa(
                    algorithm,
                    number: inside.extracting(numbers[2]),
                    point: inside.copy(numbers[1])
                )
            }
        } catch let error as CofferError { throw error } catch { throw .noSecretMemory }
    }
}

extension RawSpan {
    /// A word of a format, or a comment.
    fileprivate func words(at place: Range<Int>) -> String { String(decoding: copy(place), as: UTF8.self) }
}

/// Reads the parts of a key one after the other, and returns the place of each.
package struct KeyCursor {
    private var place: Int
    private let end: Int

    package init(_ range: Range<Int>) {
        place = range.lowerBound
        end = range.upperBound
    }

    package var isAtEnd: Bool { place == end }

    /// The number of bytes that were not read.
    package var remaining: Int { end - place }

    package mutating func take(_ count: Int) throws(CofferError) -> Range<Int> {
        guard count <= end - place else { throw .malformedKey }
        defer { place += count }
        return place..<(place + count)
    }

    /// A big-endian number.
    package mutating func number(_ byteCount: Int, in bytes: RawSpan) throws(CofferError) -> Int {
        try take(byteCount).reduce(0) { $0 << 8 | Int(bytes.byte(at: $1)) }
    }

    /// A text of SSH.
    package mutating func text(in bytes: RawSpan) throws(CofferError) -> String {
        bytes.words(at: try string(in: bytes))
    }

    /// A string of SSH.
    package mutating func string(in bytes: RawSpan) throws(CofferError) -> Range<Int> { try take(number(4, in: bytes)) }

    package func finish() throws(CofferError) { if place != end { throw .malformedKey } }

    /// Checks that only the padding of the last block remains: 1, 2, 3 and so on.
    func finishPadding(of blockBytes: Int, in bytes: RawSpan) throws(CofferError) {
        let count = end - place
        guard count < blockBytes, bytes.has((1...UInt8(blockBytes)).prefix(count), at: place..<end) else {
            throw .malformedKey
        }
    }
}
