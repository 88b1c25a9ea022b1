extension KeyType {
    /// The size of a private key, which is the seed of an Ed25519 pair or the scalar of an X25519 pair, and of a public
    /// key.
    public static let keyBytes = 32
}

/// The types of the keys of pairs that the keychain stores: values of the attribute `keyType`.
public enum StoredKeyType: String, CaseIterable, Sendable {
    /// Signatures: RFC 8032. It is stored as 32 raw bytes.
    case ed25519
    /// Key agreement: RFC 7748. It is stored as 32 raw bytes.
    case x25519
    /// RSA, of ``Limits/leastRSABits`` to ``Limits/rsaBits`` bits. It is stored in DER.
    case rsa
    /// ECDSA on the curve P-256 or P-384. It is stored in DER.
    case ecdsa

    /// The type whose keys are raw bytes; `nil` for those in DER.
    public var raw: KeyType? { KeyType(rawValue: rawValue) }
}
