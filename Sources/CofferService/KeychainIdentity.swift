internal import CofferCore
internal import CofferKeychain
internal import CofferWire

// An identity is not stored: it is a certificate, shown together with the private key of the same public key.

extension ItemQuery {
    /// Takes what only a key can have out of a query for identities, which goes through the certificates.
    ///
    /// - Returns: What the key has to have.
    mutating func splitIdentity() -> [KeychainAttribute: AttributeValue] {
        guard itemClass == .identity else { return [:] }
        let own = KeychainAttribute.attributes(of: .certificate)
        let others = exact.filter { !own.contains($0.key) }
        exact = exact.filter { own.contains($0.key) }
        return others
    }
}

extension KeychainItemInfo {
    /// The identity of this certificate and a private key: what both have is the certificate's.
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
