extension KeychainUpdateParameters {
    /// Makes the parameters of an update whose payload is a secret, which may be empty.
    ///
    /// - Parameters:
    ///   - query: What is searched for.
    ///   - change: The changes besides the secret.
    ///   - secret: The new secret, which the call sends; `nil` if the secret stays.
    ///   - isForAll: Whether every item of the class is meant, which a query without a condition requires.
    public init(
        _ query: KeychainQuery,
        _ change: KeychainChange = KeychainChange(),
        replacingBy secret: Secret?,
        isForAll: Bool = false
    ) {
        self.init(query, change, isSecretEmpty: secret?.count == 0, isForAll: isForAll)
    }
}
