internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport

/// A user name and a password, as each verb and each program may have stored them.
struct Login {
    /// The name of the item.
    let name: String
    let username: String
    let password: Secret
}

/// The logins of the vault for an address, whichever verb or program has stored them.
///
/// What docker and cargo store has a security domain and is for them alone: it may be a token that the server takes
/// for images or crates only. An item that wants a person to authenticate is left alone, and so is one that has expired.
struct Logins {
    let keychain: CredentialKeychain
    let address: ServerAddress
    /// The path, with its slash; `nil` if any will do.
    var path: String?
    /// The user name; `nil` if any will do.
    var username: String?

    /// The first login that the search accepts, of those that mention the server, the most recently changed first.
    func first(where isWanted: (Login) throws(CofferError) -> Bool) throws(CofferError) -> Login? {
        if address.host.isEmpty { return nil }
        // Before the first unlock, only an exact query finds that a login has the name of the host.
        for host in Set(address.spellings.map(\.host)) {
            _ = try keychain.items(keychain.query(.genericPassword, [.service: .text(host)]))
            _ = try keychain.items(keychain.query(.genericPassword, [.service: .text(""), .account: .text(host)]))
        }
        let items =
            try keychain.items(.internetPassword, mentioning: address)
            + keychain.items(.genericPassword, mentioning: address)
        for item in items.sorted(by: { $0.modified > $1.modified }) where isCandidate(item) {
            if let login = try login(of: item), try isWanted(login) { return login }
        }
        return nil
    }

    /// Whether the name or an address among the attributes has the host, and no other program's domain is named.
    private func isCandidate(_ item: ItemInfo) -> Bool {
        let attributes = item.attributes ?? [:]
        if item.isExpired || item.accessControl != nil || attributes[.securityDomain] ?? .text("") != .text("") {
            return false
        }
        let urls = item.user?["url"] ?? attributes.loginField("url") ?? ""
        return (urls.split(separator: " ") + item.name.split(separator: "/").prefix(1)).contains { url in
            Self.origin(of: ServerAddress(origin: String(url))).hasSameBytes(as: Self.origin(of: address))
        }
    }

    /// The protocol, the host and the port, in one spelling.
    private static func origin(of address: ServerAddress) -> String {
        var origin = address.withoutUser
        origin.path = ""
        origin.protocol = origin.protocol ?? "https"
        return origin.normalized.url
    }

    /// The login in the attributes of an item, or else in its fields.
    private func login(of item: ItemInfo) throws(CofferError) -> Login? {
        guard let query = KeychainQuery(for: item) else { return nil }
        let content = try keychain.secret(query)
        let found: (user: String?, password: Secret?, urls: [String])
        if let attributes = item.attributes, let url = attributes.loginField("url") {
            found = (attributes.loginField("username"), try content.firstLine(), [url])
        } else {
            guard let fields = SecretFields(content) else { return nil }
            let user = try fields.value(of: "username")?.exposeText()
            found = (user, try fields.value(of: SecretFields.password), try fields.addresses())
        }
        guard let user = found.user, let password = found.password, username?.hasSameBytes(as: user) ?? true,
            found.urls.isEmpty ? isFor(address.host) : found.urls.contains(where: isFor)
        else { return nil }
        return Login(name: item.name, username: user, password: password)
    }

    /// Whether a login with that address is one for the request; without a protocol it is for https alone.
    private func isFor(_ url: String) -> Bool {
        var (wanted, own) = (address, ServerAddress(url: url).withoutUser)
        own.protocol = own.protocol ?? "https"
        wanted.protocol = wanted.protocol ?? "https"
        wanted.path = path ?? own.path
        return own.means(wanted)
    }
}

extension Secret {
    /// The first line, without its end.
    func firstLine() throws(CofferError) -> Secret {
        try withBytes { (bytes) throws(CofferError) in
            let all = bytes.textStart..<bytes.byteCount
            let end = all.first { bytes.byte(at: $0) == 10 } ?? bytes.byteCount
            return try Secret(copying: bytes.extracting(all.lowerBound..<end))
        }
    }
}
