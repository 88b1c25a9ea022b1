package import CofferCore
internal import CofferCrypto
internal import CofferMemory
internal import CofferWire

/// A public key in the format of SSH: RFC 4253, RFC 5656 and RFC 8709.
package struct SSHPublicKey: Hashable {
    /// The encoded key.
    package let blob: [UInt8]
    /// The name of its format, with which it begins.
    package let algorithm: String

    /// Encodes a public key.
    ///
    /// - Parameters:
    ///   - type: Its type.
    ///   - bytes: The key, as in the BIT STRING of a certificate.
    /// - Throws: `param` if SSH has no such keys.
    package init(_ type: StoredKeyType, _ bytes: [UInt8]) throws(CofferError) {
        var writer = SSHWriter()
        switch type {
        case .ed25519:
            algorithm = "ssh-ed25519"
            writer.string(algorithm)
            writer.string(bytes)
        case .rsa:
            algorithm = "ssh-rsa"
            writer.string(algorithm)
            let numbers = try IntegerPair(der: bytes)
            writer.string(numbers.second)
            writer.string(numbers.first)
        case .ecdsa:
            let curve = bytes.count == 1 + 2 * EncodedKey.Algorithm.p256.coordinateBytes ? "nistp256" : "nistp384"
            algorithm = "ecdsa-sha2-\(curve)"
            writer.string(algorithm)
            writer.string(curve)
            writer.string(bytes)
        case .x25519: throw .notForSSH
        }
        blob = writer.bytes
    }

    /// Parses a line of `authorized_keys` without options and comment; `nil` if it is none.
    package init?(text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2, let blob = Base64.decode(String(words[1])) else { return nil }
        (self.blob, algorithm) = (blob, String(words[0]))
    }

    /// The line of `authorized_keys`.
    package var text: String { "\(algorithm) \(Base64.encode(blob))" }

    /// The fingerprint, as OpenSSH prints it.
    package var fingerprint: String {
        "SHA256:\(Base64.encode(publicKeyHash(of: blob)).prefix { $0 != "=" })"
    }

    package var isRSA: Bool { algorithm == "ssh-rsa" }
    package var isECDSA: Bool { algorithm.hasPrefix("ecdsa-") }
}

extension KeyInput {
    /// The public half of a private key.
    ///
    /// - Throws: `param` if it is not a private key that SSH can use.
    package borrowing func sshPublicKey() throws(CofferError) -> SSHPublicKey {
        guard let kind, kind.isPrivate, kind.type != .x25519 else { throw .notForSSH }
        return try SSHPublicKey(kind.type, try publicKey(of: kind.type))
    }

    private borrowing func publicKey(of type: StoredKeyType) throws(CofferError) -> [UInt8] {
        do {
            guard let raw = type.raw else { return try bytes.withBytes { try EncodedKey($0).publicKey } }
            guard let key = SymmetricKey(try bytes.duplicate()) else { throw CofferError.malformedKey }
            return try raw.publicKey(of: key)
        } catch let error as CofferError { throw error } catch let error as DERError {
            throw PEM.Subject.key.refusal(error.finding)
        } catch { throw .noSecretMemory }
    }
}

extension CofferError {
    static let notForSSH = CofferError(
        .param,
        "the key is not a private key that SSH can use",
        hint: "give a private key of ed25519, RSA, or ECDSA on P-256 or P-384, as 'ssh-keygen' writes it"
    )
}
