extension KeyType {
    /// The size of a private key, which is the seed of an Ed25519 pair or the scalar of an X25519 pair, and of a public
    /// key.
    public static let keyBytes = 32
}
