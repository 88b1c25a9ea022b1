/// The kind of an elliptic-curve key that the daemon can make and use, by its name as an attribute.
public enum KeyType: String, CaseIterable, Sendable {
    /// Signs: RFC 8032.
    case ed25519
    /// Agrees on secrets: RFC 7748.
    case x25519

    /// The bytes of a private key, which is the seed of an Ed25519 pair and the scalar of an X25519 pair, and of a public
    /// key.
    public static let keyBytes = 32
    /// The size of a key, in bits, as an attribute has it.
    public static let sizeInBits = 256
}
