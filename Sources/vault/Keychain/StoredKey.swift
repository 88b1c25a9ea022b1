internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// What the daemon derives from a key of a pair, in its stored form.
struct StoredKey {
    /// The size of the key.
    let bits: Int
    /// The public key, as in the BIT STRING of a certificate.
    let publicKey: [UInt8]

    /// Derives it.
    ///
    /// - Parameters:
    ///   - secret: The stored form: 32 raw bytes, or DER as ``CofferCrypto/EncodedKey`` has it.
    ///   - type: The type that the item has.
    ///   - isPrivate: Whether the item is the private half.
    /// - Throws: `param` if the bytes are no such key, with the reason.
    init(_ secret: borrowing SecretBytes, _ type: StoredKeyType, isPrivate: Bool) throws(CofferError) {
        if let raw = type.raw {
            guard secret.count == KeyType.keyBytes else {
                throw CofferError(
                    .param,
                    "a key of type '\(type.rawValue)' has \(KeyType.keyBytes) bytes, not \(secret.count)"
                )
            }
            bits = KeyType.keyBytes * 8
            publicKey = isPrivate ? try Self.publicKey(of: secret, raw) : secret.exposeBytes()
            return
        }
        let key: EncodedKey
        do throws(DERError) {
            key = try secret.withBytes { (bytes) throws(DERError) in try EncodedKey(bytes) }
        } catch {
            throw CofferError(
                .param,
                "the key can't be read: \(error.finding)",
                hint:
                    "give it as PKCS#8, or a public key as X.509 has it, in DER: 'openssl pkey -outform DER' writes it"
            )
        }
        guard key.algorithm.type == type, key.isPrivate == isPrivate else {
            let half = key.isPrivate ? "private" : "public"
            throw CofferError(
                .param,
                "the key is a \(half) one of type '\(key.algorithm.type.rawValue)', and its attributes say otherwise",
                hint: "set 'keyType' and 'keyClass' to what it is"
            )
        }
        (bits, publicKey) = (key.bits, key.publicKey)
    }

    /// The public half of raw bytes.
    private static func publicKey(of secret: borrowing SecretBytes, _ type: KeyType) throws(CofferError) -> [UInt8] {
        do {
            guard let key = SymmetricKey(try secret.duplicate()) else {
                throw CofferError(.param, "a private key has \(KeyType.keyBytes) bytes")
            }
            return try type.publicKey(of: key)
        } catch let error as CofferError {
            throw error
        } catch CryptoError.unusableKey {
            throw CofferError(.param, "the private key can't be used: its public half is of low order")
        } catch {
            throw .noSecretMemory
        }
    }
}
