internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport

/// Reads the secrets that a program or a template gets, each item once.
struct SecretReader {
    let session: Session
    let group: String?
    private var found: [ItemName: StoredSecret] = [:]

    init(_ session: Session, in group: String?) {
        self.session = session
        self.group = group
    }

    /// The secret, or the value of its field, unchanged.
    ///
    /// - Throws: `itemNotFound` if there is no such item or field; `dataTooLarge` if it is larger than a secret.
    mutating func content(_ reference: SecretReference) throws(CofferError) -> Secret {
        let stored = try item(reference.name)
        guard let field = reference.field else { return stored.content }
        return try stored.value(of: field)
    }

    private mutating func item(_ name: ItemName) throws(CofferError) -> StoredSecret {
        if let stored = found[name] { return stored }
        let stored = try session.secret(name, in: group)
        found[name] = stored
        return stored
    }

    /// The secret or the value without one line end, as a shell substitutes it.
    mutating func text(_ reference: SecretReference) throws(CofferError) -> Secret {
        try content(reference).withoutLineEnd()
    }
}
