internal import CofferClient

/// A secret, or one field of it, as a command line or a file names it: `NAME[#FIELD]`.
///
/// What follows the last `#` is the field; after a `#` at the end there is none, so that a name may contain one.
struct SecretReference: Hashable {
    let name: ItemName
    let field: String?

    init(_ name: ItemName, field: String? = nil) {
        self.name = name
        self.field = field
    }

    /// Reads a reference.
    ///
    /// - Throws: `param` if the name is none.
    init(argument: String) throws(CofferError) {
        let bytes = argument.utf8
        let mark = bytes.lastIndex(of: UInt8(ascii: "#"))
        let field = mark.map { String(argument[bytes.index(after: $0)...]) } ?? ""
        self.init(
            try ItemName(argument: mark.map { String(argument[..<$0]) } ?? argument),
            field: field.isEmpty ? nil : field
        )
    }

    /// The reference in quotes, for a message.
    var quoted: String { quotedForDisplay(field.map { "\(name.path)#\($0)" } ?? name.path) }
}

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
