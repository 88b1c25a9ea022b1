internal import CofferSecretFormats
internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// The public key of a host, which verifies the signature of a key exchange.
enum SSHHostKey {
    /// The 32 bytes.
    case ed25519([UInt8])
    /// The key as SubjectPublicKeyInfo in DER.
    case encoded(EncodedKey, [UInt8])

    /// Parses a key in the format of SSH.
    ///
    /// - Throws: `unimplemented` for another type; `param` if it is malformed.
    init(_ blob: [UInt8]) throws(CofferError) {
        let bytes = unsafe blob.span.bytes
        var fields = KeyCursor(0..<blob.count)
        let type = try fields.text(in: bytes)
        switch type {
        case "ssh-ed25519": self = .ed25519(bytes.copy(try fields.string(in: bytes)))
        case "ssh-rsa":
            let (e, n) = (try fields.string(in: bytes), try fields.string(in: bytes))
            self = try Self.encoded(.rsa, Self.sequence(bytes.extracting(n), bytes.extracting(e)))
        case "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384":
            guard try type.hasSuffix(fields.text(in: bytes)) else { throw .malformedKey }
            let point = bytes.copy(try fields.string(in: bytes))
            self = try Self.encoded(type.hasSuffix("256") ? .p256 : .p384, point)
        default:
            throw CofferError(
                .unimplemented,
                "can't bind the connection: a host key of \(quotedForDisplay(type)) is not verified here"
            )
        }
        try fields.finish()
    }

    /// Verifies a signature in the format of SSH.
    func isValid(_ signature: [UInt8], of message: RawSpan) throws(CofferError) -> Bool {
        let bytes = unsafe signature.span.bytes
        var fields = KeyCursor(0..<signature.count)
        let algorithm = try fields.text(in: bytes)
        let content = try fields.string(in: bytes)
        try fields.finish()
        switch (self, algorithm) {
        case (.ed25519(let key), "ssh-ed25519"): return SigningKey.isValid(bytes.copy(content), of: message, by: key)
        case (.encoded(let key, let der), "rsa-sha2-256") where key.algorithm == .rsa:
            return unsafe key.isValid(bytes.copy(content), of: message, .sha256, by: der.span.bytes)
        case (.encoded(let key, let der), "rsa-sha2-512") where key.algorithm == .rsa:
            return unsafe key.isValid(bytes.copy(content), of: message, .sha512, by: der.span.bytes)
        case (.encoded(let key, let der), _)
        where key.algorithm != .rsa && algorithm == "ecdsa-sha2-nistp\(key.bits)":
            var numbers = KeyCursor(content)
            let (r, s) = (try numbers.string(in: bytes), try numbers.string(in: bytes))
            try numbers.finish()
            let form = try Self.sequence(bytes.extracting(r), bytes.extracting(s))
            return unsafe key.isValid(form, of: message, key.digests[0], by: der.span.bytes)
        default: return false
        }
    }

    // MARK: DER

    private static func encoded(_ algorithm: EncodedKey.Algorithm, _ key: [UInt8]) throws(CofferError) -> SSHHostKey {
        let der = try der(capacity: key.count + 64) { writer in
            let end = writer.place
            writer.prepend([0] + key)
            writer.wrap(DERElement.Tag.bitString, until: end)
            writer.prepend(algorithm.identifier)
        }
        do throws(DERError) { return .encoded(try unsafe EncodedKey(der.span.bytes), der) } catch {
            throw .malformedKey
        }
    }

    /// A SEQUENCE of two numbers.
    private static func sequence(_ first: RawSpan, _ second: RawSpan) throws(CofferError) -> [UInt8] {
        try der(capacity: first.byteCount + second.byteCount + 64) { writer in
            writer.prependInteger(second)
            writer.prependInteger(first)
        }
    }

    private static func der(
        capacity: Int,
        _ body: (inout DERWriter) -> Void
    ) throws(CofferError) -> [UInt8] {
        do {
            var writer = try DERWriter(capacity: capacity)
            let end = writer.place
            body(&writer)
            writer.wrap(DERElement.Tag.sequence, until: end)
            return try writer.finish().exposeBytes()
        } catch { throw .noSecretMemory }
    }
}
