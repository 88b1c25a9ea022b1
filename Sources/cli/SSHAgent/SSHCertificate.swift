internal import CofferClient
package import CofferSecretFormats
package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// A certificate of a user's key in the format of OpenSSH's `PROTOCOL.certkeys`.
///
/// The agent stores it and hands it out; whether it is valid, the server decides.
package struct SSHCertificate {
    private static let ending = "-cert-v01@openssh.com"

    /// The encoded certificate.
    let blob: [UInt8]
    /// The name of the format of its key.
    private let keyType: String
    /// The fields of its key, encoded one after the other.
    private let keyFields: [UInt8]

    /// Whether a key of this type is sent with its certificate.
    package static func isType(_ type: String) -> Bool { type.hasSuffix(ending) }

    /// Parses a certificate.
    ///
    /// - Throws: `param` if it is malformed, or of a type of key that is not kept.
    package init(_ blob: [UInt8]) throws(CofferError) {
        let bytes = unsafe blob.span.bytes
        var fields = KeyCursor(0..<blob.count)
        let type = try fields.text(in: bytes)
        guard Self.isType(type) else { throw .malformedKey }
        keyType = String(type.dropLast(Self.ending.count))
        _ = try fields.string(in: bytes)
        let count = try Self.fieldCount(of: keyType)
        var writer = SSHWriter()
        for _ in 0..<count { writer.string(bytes.copy(try fields.string(in: bytes))) }
        (self.blob, keyFields) = (blob, writer.bytes)
    }

    private static func fieldCount(of type: String) throws(CofferError) -> Int {
        switch type {
        case "ssh-ed25519": 1
        case "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384": 2
        default:
            throw CofferError(
                .unimplemented,
                "a certificate of a key of type \(quotedForDisplay(type)) can't be kept",
                hint: "'CertificateFile' in ssh_config(5) names one that ssh reads by itself"
            )
        }
    }

    /// What a request would have in place of the certificate, if the key was sent without it.
    ///
    /// - Parameters:
    ///   - fields: The rest of the request: what is private of the key, its comment, and the constraints.
    ///   - bytes: The request.
    /// - Returns: The key, and all that follows it.
    package func request(
        with fields: inout KeyCursor,
        in bytes: RawSpan
    ) throws(CofferError) -> SecretBytes {
        var writer = SSHWriter()
        writer.string(keyType)
        // What is private of this type begins with the public key.
        if keyType == "ssh-rsa" {
            writer = try rsa(writer)
        } else if keyType != "ssh-ed25519" {
            writer = SSHWriter(writer.bytes + keyFields)
        }
        let rest = bytes.extracting(try fields.take(fields.remaining))
        do {
            var request = try SecretBytes(zeros: writer.bytes.count + rest.byteCount)
            unsafe request.copy(writer.bytes.span.bytes, to: 0)
            request.copy(rest, to: writer.bytes.count)
            return request
        } catch { throw .noSecretMemory }
    }

    /// The modulus and the exponent, which a private key has in the other order than a public one.
    private func rsa(_ writer: SSHWriter) throws(CofferError) -> SSHWriter {
        var writer = writer
        let bytes = unsafe keyFields.span.bytes
        var fields = KeyCursor(0..<keyFields.count)
        let exponent = bytes.copy(try fields.string(in: bytes))
        writer.string(bytes.copy(try fields.string(in: bytes)))
        writer.string(exponent)
        return writer
    }
}
