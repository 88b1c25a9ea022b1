internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats

/// The option of verbs that print keys.
struct KeyFormatOptions: ParsableArguments {
    @Option(
        name: .customLong("format"),
        help: "Write a private key in this format (default: openssh, if it was added so; raw, as it is stored, else)."
    )
    var keyFormat: KeyFormat?

    /// What is known of the key that a name stands for.
    ///
    /// - Returns: `nil` if the name is of no private key.
    /// - Throws: `param` if a format is asked for, and it is none.
    func key(of name: ItemName, in group: String?, _ client: BlockingClient) throws(CofferError) -> PrivateKey? {
        guard keyFormat != nil || name.mayBeKey else { return nil }
        let info = try client.call(ItemShowParameters(name: name, group: group)).value
        return try check(PrivateKey(info), name.quoted)
    }

    /// What is known of the key that a query has found.
    ///
    /// - Returns: `nil` if it is no private key.
    /// - Throws: `param` if a format is asked for, and it is none.
    func key(of item: KeychainItemInfo) throws(CofferError) -> PrivateKey? {
        try check(PrivateKey(item), "the item that was found")
    }

    /// Formats a key; anything else is returned as it is.
    func format(_ content: Secret, of key: PrivateKey?) throws(CofferError) -> Secret {
        guard let key else { return content }
        return try key.encode(content, as: keyFormat ?? key.usualFormat)
    }

    private func check(_ key: PrivateKey?, _ what: String) throws(CofferError) -> PrivateKey? {
        guard keyFormat == nil || key != nil else {
            throw CofferError(.param, "--format is for private keys, and \(what) is none", hint: "leave --format out")
        }
        return key
    }
}

extension ItemName {
    /// Whether a key may have the name: a path is never one.
    var mayBeKey: Bool {
        switch QualifiedName(self) {
        case .labelled(.key, _), .reference: true
        default: false
        }
    }
}
