internal import CofferCore
internal import CofferKeychain
internal import CofferWire

// Identities are not stored: an identity is a certificate, combined with the private key that has the same public key.

extension ItemQuery {
    /// Removes the attributes of keys from a query for identities, which scans the certificates.
    ///
    /// - Returns: The attributes that the private key must have.
    mutating func splitIdentity() -> [KeychainAttribute: AttributeValue] {
        guard itemClass == .identity else { return [:] }
        let own = KeychainAttribute.attributes(of: .certificate)
        let others = exact.filter { !own.contains($0.key) }
        exact = exact.filter { own.contains($0.key) }
        return others
    }
}

extension KeychainItemInfo {
    /// Combines this certificate with its private key; the certificate's attributes take precedence.
    func identity(with key: KeychainItemInfo) -> KeychainItemInfo {
        KeychainItemInfo(
            itemClass: .identity,
            reference: reference,
            attributes: attributes.map { $0.merging(key.attributes ?? [:]) { own, _ in own } },
            user: user.map { $0.merging(key.user ?? [:]) { own, _ in own } },
            byteCount: byteCount,
            accessControl: accessControl,
            isLocked: isLocked || key.isLocked,
            isExpired: isExpired || key.isExpired
        )
    }
}
