package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// Converts a key from the usual file formats to the form in which it is stored, which the daemon requires.
///
/// It reads what `ssh-keygen` and `openssl` write, in PEM or DER, encrypted or not: PKCS#8, PKCS#1 (RSA), SEC1 (ECDSA),
/// public keys of X.509, and private keys of OpenSSH.
package struct KeyInput: ~Copyable {
    /// The bytes in the stored form, or the whole input if its format is unknown.
    package let bytes: SecretBytes
    /// The type that the format records; `nil` for raw bytes.
    package let kind: Kind?
    /// The comment of a key of OpenSSH; `nil` for one of another format.
    package let comment: String?

    init(bytes: consuming SecretBytes, kind: Kind?, comment: String? = nil) {
        self.bytes = bytes
        self.kind = kind
        self.comment = comment
    }

    /// The type that the format of a key records.
    package struct Kind: Equatable, Sendable {
        /// The algorithm.
        package let type: StoredKeyType
        /// Whether it is the private half.
        package let isPrivate: Bool

        package init(type: StoredKeyType, isPrivate: Bool) {
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
    /// - Parameters:
    ///   - input: The whole file. 32 bytes are a raw key. Input that is neither DER nor PEM is passed on unchecked, and the
    ///     daemon checks it. Of a PEM text, the first block with a key is used.
    ///   - ask: Asks for the passphrase of an encrypted key.
    /// - Throws: `param` if the key is of another type or malformed; `authFailed` if the passphrase is wrong; what `ask`
    ///   throws.
    package init(
        from input: consuming SecretBytes,
        passphrase ask: () throws(CofferError) -> SecretBytes
    ) throws(CofferError) {
        let isDER = input.withBytes { $0.isDER }
        let isPEM = input.withBytes { $0.contains("-----BEGIN ".utf8) }
        if input.count == KeyType.keyBytes || !(isDER || isPEM) {
            self.init(bytes: input, kind: nil)
        } else if isDER {
            self = try input.withBytes { (bytes) throws(CofferError) in try Self.decode(bytes, labelled: nil) }
        } else {
            // libcrypto, which opens some of the encrypted ones, does not know the mark.
            self = try input.withBytes { (text) throws(CofferError) in
                try Self.decode(pem: text.extracting(droppingFirst: text.textStart), ask)
            }
        }
    }

    private static func decode(
        pem text: RawSpan,
        _ ask: () throws(CofferError) -> SecretBytes
    ) throws(CofferError) -> KeyInput {
        // The headers of an older encrypted block are not base64.
        if text.contains("Proc-Type: 4,ENCRYPTED".utf8) || text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----".utf8) {
            return try decode(encrypted: text, ask)
        }
        let block = try PEM(.key).block(in: text)
        let label = block.label
        let content = block.takeBytes()
        return try content.withBytes { (bytes) throws(CofferError) in
            guard label == "OPENSSH PRIVATE KEY" else { return try decode(bytes, labelled: label) }
            return try OpenSSHKey(bytes).read(bytes, ask)
        }
    }

    private static func decode(
        encrypted text: RawSpan,
        _ ask: () throws(CofferError) -> SecretBytes
    ) throws(CofferError) -> KeyInput {
        let passphrase = try ask()
        let opened: SecretBytes
        do throws(EncryptedKey.Failure) {
            opened = try EncryptedKey.open(pem: text, with: passphrase)
        } catch { throw .notOpened(error) }
        return try opened.withBytes { (bytes) throws(CofferError) in try decode(bytes, labelled: "PRIVATE KEY") }
    }

    private static func decode(_ bytes: RawSpan, labelled label: String?) throws(CofferError) -> KeyInput {
        let key: KeyInput
        if let found = try FoundKey(bytes) {
            key = KeyInput(bytes: try copy(bytes.extracting(found.place)), kind: found.kind)
        } else {
            let stored = try KeyForms.stored(bytes)
            key = try stored.withBytes { (form) throws(CofferError) in
                let encoded: EncodedKey
                do throws(DERError) { encoded = try EncodedKey(form) } catch {
                    throw PEM.Subject.key.refusal(error.finding)
                }
                let kind = Kind(type: encoded.algorithm.type, isPrivate: encoded.isPrivate)
                return KeyInput(bytes: try copy(form), kind: kind)
            }
        }
        if let isPrivate = key.kind?.isPrivate, let label, isPrivate == (label == "PUBLIC KEY") { throw .malformedKey }
        return key
    }

    private static func copy(_ bytes: RawSpan) throws(CofferError) -> SecretBytes {
        do { return try SecretBytes(copying: bytes) } catch { throw .noSecretMemory }
    }
}

extension PEM.Subject {
    static let key = PEM.Subject(
        name: "the key",
        labels: [
            "PRIVATE KEY", "PUBLIC KEY", "OPENSSH PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY",
            "ENCRYPTED PRIVATE KEY",
        ],
        hint: "give a key of ed25519, x25519, RSA or ECDSA, as 'ssh-keygen' and 'openssl genpkey' write it"
    )
}

extension CofferError {
    package static let malformedKey = PEM.Subject.key.refusal("it is malformed, or of a form that is not known")
    static let otherKey = PEM.Subject.key.refusal("it is not of ed25519, x25519, RSA, or ECDSA on P-256 or P-384")

    static func notOpened(_ failure: EncryptedKey.Failure) -> CofferError {
        switch failure {
        case .noMemory: .noSecretMemory
        case .notOpened:
            CofferError(
                .authFailed,
                "can't read the key: the passphrase is wrong, or the key is damaged",
                hint: "'ssh-keygen -y -f FILE' tries the passphrase"
            )
        case .noLibrary:
            CofferError(
                .unimplemented,
                "can't read the key: it is encrypted, and libcrypto.so.3, which decrypts it, can't be loaded",
                hint: "install the package 'libssl3'"
            )
        }
    }
}

/// The location of a key that is stored as raw bytes.
private struct FoundKey {
    let place: Range<Int>
    let kind: KeyInput.Kind
}

// MARK: - PKCS#8, and the public keys of X.509

extension FoundKey {
    private typealias Tag = DERElement.Tag

    /// Finds a key of ed25519 or x25519; `nil` if it is of another type.
    init?(_ bytes: RawSpan) throws(CofferError) {
        do throws(DERError) { try self.init(checking: bytes) } catch { throw .malformedKey }
    }

    private init?(checking bytes: RawSpan) throws(DERError) {
        var outer = DERReader(0..<bytes.byteCount)
        var fields = DERReader(try outer.next(Tag.sequence, "the key", in: bytes).content)
        try outer.finish("the input")
        let version = try fields.nextIfPresent(Tag.integer, in: bytes)
        guard let algorithm = try fields.nextIfPresent(Tag.sequence, in: bytes),
            let type = try Self.type(algorithm, in: bytes)
        else { return nil }
        if let version {
            let number = try version.integerBytes(in: bytes, "the version")
            guard number == [0] || number == [1] else { throw DERError("it has a version that is not known") }
            var inner = DERReader(try fields.next(Tag.octetString, "the private key", in: bytes).content)
            place = try inner.next(Tag.octetString, "the private key", in: bytes).content
            try inner.finish("the private key")
            _ = try fields.nextIfPresent(Tag.field(0, isConstructed: true), in: bytes)
            if number == [1] { _ = try fields.nextIfPresent(Tag.field(1, isConstructed: false), in: bytes) }
        } else {
            let bits = try fields.next(Tag.bitString, "the public key", in: bytes)
            place = try bits.bitStringBytes(in: bytes, "the public key")
        }
        try fields.finish("the key")
        guard place.count == KeyType.keyBytes else { throw DERError("it does not have the size of its type") }
        kind = KeyInput.Kind(type: type, isPrivate: version != nil)
    }

    private static func type(_ algorithm: DERElement, in bytes: RawSpan) throws(DERError) -> StoredKeyType? {
        var parts = DERReader(algorithm.content)
        let name = try parts.next(Tag.objectIdentifier, "the algorithm", in: bytes).objectIdentifier(in: bytes)
        let types: [String: StoredKeyType] = ["1.3.101.110": .x25519, "1.3.101.112": .ed25519]
        if let type = types[name] {
            try parts.finish("the algorithm")
            return type
        }
        return nil
    }
}
