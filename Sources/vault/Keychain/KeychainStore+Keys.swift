package import CofferCore
internal import CofferCrypto
package import CofferMemory

// Keys of the keychain that are used without leaving the daemon.

extension KeychainStore {
    /// Signs with a private key.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - digest: The hash; `nil` for the default of the key's type.
    ///   - item: A private key of Ed25519, RSA or ECDSA.
    ///   - context: The authentication of the client.
    /// - Returns: The signature.
    /// - Throws: `param` if the item is not such a key, or the hash not one of its type; `missingEntitlement` if its
    ///   access control does not allow its use; as ``secret(of:with:)``.
    package func signature(
        of message: borrowing SecretBytes,
        _ digest: SignatureDigest? = nil,
        by item: KeychainItem,
        with context: AuthenticationContext? = nil
    ) throws -> SecretBytes {
        let signature = try sign(message, digest, by: item, context)
        return unsafe try SecretBytes(copying: signature.span.bytes)
    }

    private func sign(
        _ message: borrowing SecretBytes,
        _ digest: SignatureDigest?,
        by item: KeychainItem,
        _ context: AuthenticationContext?
    ) throws -> [UInt8] {
        let type = StoredKeyType(rawValue: item.attributes.text(.keyType))
        if type == .rsa || type == .ecdsa { return try encodedSignature(of: message, digest, by: item, context) }
        let key = try privateKey(item, of: .ed25519, context)
        guard digest == nil else { throw CofferError.notOneOf([], item) }
        guard let pair = try SigningKey(seed: key.bytes) else { throw CofferError.noSecretMemory }
        return message.withBytes { pair.signature(of: $0) }
    }

    /// Signs with a key that is stored in DER.
    private func encodedSignature(
        of message: borrowing SecretBytes,
        _ digest: SignatureDigest?,
        by item: KeychainItem,
        _ context: AuthenticationContext?
    ) throws -> [UInt8] {
        guard item.attributes.itemClass == .key, item.attributes.text(.keyClass) == "private" else {
            throw CofferError(.param, "\(item.attributes.quoted) is not a private key")
        }
        try seals.checkUsage(item)
        let secret = try secret(of: item, with: context)
        func damaged(_ finding: String) -> CofferError { .damaged(item.attributes.quoted, found: finding) }
        do {
            let key = try secret.withBytes { (bytes) throws(DERError) in try EncodedKey(bytes) }
            let digest = digest ?? key.digests[0]
            guard key.digests.contains(digest) else { throw CofferError.notOneOf(key.digests, item) }
            return try message.withBytes { (message) throws(EncodedKey.SigningFailure) in
                try key.signature(of: message, digest, by: secret)
            }
        } catch let error as DERError { throw damaged(error.finding) } catch EncodedKey.SigningFailure.unusable {
            throw damaged("the private key does not belong to its public key")
        } catch EncodedKey.SigningFailure.noLibrary { throw CofferError.noSignatures }
    }

    /// Agrees on a shared secret.
    ///
    /// - Parameters:
    ///   - item: An X25519 private key.
    ///   - peer: The public key of the other side.
    ///   - context: The authentication of the client.
    /// - Returns: The shared secret.
    /// - Throws: `param` if the item is not such a key, or the peer's is of low order; as ``signature(of:by:with:)``.
    package func sharedSecret(
        of item: KeychainItem,
        with peer: [UInt8],
        _ context: AuthenticationContext? = nil
    ) throws -> SecretBytes {
        let key = try privateKey(item, of: .x25519, context)
        do {
            return try KeyAgreement.sharedSecret(of: key, with: peer)
        } catch CryptoError.unusableKey {
            throw CofferError(.param, "the peer's public key is of low order: anybody could agree with it")
        }
    }

    /// The public half of a key, or the public key of a certificate.
    ///
    /// - Parameters:
    ///   - item: The key or the certificate.
    ///   - context: The authentication of the client.
    /// - Throws: `param` if the item has none; as ``secret(of:with:)``.
    package func publicKey(
        of item: KeychainItem,
        with context: AuthenticationContext? = nil
    ) throws -> KeychainPublicKey {
        let secret = try secret(of: item, with: context)
        switch (item.attributes.itemClass, item.attributes.text(.keyClass)) {
        case (.certificate, _):
            let certificate = try secret.withBytes { (bytes) throws(CofferError) in try Certificate(der: bytes) }
            let type = certificate.keyType?.rawValue ?? certificate.publicKeyAlgorithm
            return KeychainPublicKey(bytes: certificate.publicKey, keyType: type)
        case (.key, let half) where half == "public" || half == "private":
            guard let type = StoredKeyType(rawValue: item.attributes.text(.keyType)) else { break }
            let key = try StoredKey(secret, type, isPrivate: half == "private")
            return KeychainPublicKey(bytes: key.publicKey, keyType: type.rawValue)
        default: break
        }
        throw CofferError(.param, "\(item.attributes.quoted) has no public key")
    }

    private func privateKey(
        _ item: KeychainItem,
        of type: KeyType,
        _ context: AuthenticationContext?
    ) throws -> SymmetricKey {
        guard item.attributes.itemClass == .key, item.attributes.text(.keyClass) == "private",
            item.attributes.text(.keyType) == type.rawValue
        else {
            throw CofferError(.param, "\(item.attributes.quoted) is not a private key of type '\(type.rawValue)'")
        }
        try seals.checkUsage(item)
        guard let key = SymmetricKey(try secret(of: item, with: context)) else {
            throw CofferError.damaged(item.attributes.quoted, found: "it does not have the size of a key")
        }
        return key
    }
}

extension CofferError {
    fileprivate static func notOneOf(_ digests: [SignatureDigest], _ item: KeychainItem) -> CofferError {
        let type = "\(item.attributes.quoted) is a key of type '\(item.attributes.text(.keyType))'"
        let names = digests.map { "'\($0.rawValue)'" }.joined(separator: " or ")
        return CofferError(
            .param,
            "\(type), whose signatures have no such 'digest'",
            hint: digests.isEmpty ? "omit 'digest'" : "give \(names), or omit 'digest'"
        )
    }

    fileprivate static let noSignatures = CofferError(
        .notAvailable,
        "libcrypto.so.3, which signs with keys of RSA and ECDSA, can't be loaded",
        hint: "install the package 'libssl3'"
    )
}
