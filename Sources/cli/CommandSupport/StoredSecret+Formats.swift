package import CofferClient
internal import CofferSecretFormats

extension StoredSecret {
    /// The address of the one-time codes: the secret itself, one of its fields, or one of its lines.
    ///
    /// - Throws: `itemNotFound` if there is none.
    package func oneTimeAddress() throws(CofferError) -> Secret {
        if let address = try OneTimeKey.address(in: content) { return address }
        throw CofferError(
            .itemNotFound,
            "\(name.quoted) has no address of one-time codes",
            hint: "'coffer otp add \(name.path)' stores one"
        )
    }

    /// Whether the secret is such an address, and nothing else.
    package var isOneTimeAddress: Bool { OneTimeKey.isAddress(content) }
}

extension StoredSecret {
    /// The content; a private key in its usual format.
    package func formatted() throws(CofferError) -> Secret {
        guard let key = PrivateKey(info) else { return content }
        return try key.encode(content, as: key.usualFormat)
    }
}
