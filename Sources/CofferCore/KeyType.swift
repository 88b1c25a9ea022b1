/// The type of an elliptic-curve key that the daemon can generate and use, with its name as an attribute.
public enum KeyType: String, CaseIterable, Sendable {
    /// Signatures: RFC 8032.
    case ed25519
    /// Key agreement: RFC 7748.
    case x25519

    /// The size of a private key, which is the seed of an Ed25519 pair or the scalar of an X25519 pair, and of a public
    /// key.
    public static let keyBytes = 32
    /// The value of the attribute `keySizeInBits`.
    public static let sizeInBits = 256
}
