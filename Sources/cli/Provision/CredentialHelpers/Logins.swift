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

    /// The first login that the search accepts: by the name `HOST` or `HOST/WHATEVER`, by the server of an internet
    /// password, by the addresses among the attributes.
    func first(where isWanted: (Login) throws(CofferError) -> Bool) throws(CofferError) -> Login? {
        guard !address.host.isEmpty else { return nil }
        // This search reads the attributes of all logins, so it comes last.
        if let login = try first(among: named(), where: isWanted) { return login }
        return try first(among: addressed(), where: isWanted)
    }

    private func first(
        among items: [KeychainItemInfo],
        where isWanted: (Login) throws(CofferError) -> Bool
    ) throws(CofferError) -> Login? {
        for item in items {
            guard !item.isExpired, item.accessControl == nil, let login = try login(of: item) else { continue }
            if try isWanted(login) { return login }
        }
        return nil
    }

    private func named() throws(CofferError) -> [KeychainItemInfo] {
        let hosts = address.spellings.map(\.host).reduce(into: [String]()) { hosts, host in
            if !hosts.contains(host) { hosts.append(host) }
        }
        var items: [KeychainItemInfo] = []
        for host in hosts {
            items += try keychain.items(keychain.query(.genericPassword, [.service: .text(host)]))
            let alone: [KeychainAttribute: AttributeValue] = [.service: .text(""), .account: .text(host)]
            items += try keychain.items(keychain.query(.genericPassword, alone))
        }
        return items
    }

    private func addressed() throws(CofferError) -> [KeychainItemInfo] {
        var items: [KeychainItemInfo] = []
        let origin = Self.origin(of: address)
        let queries = [
            keychain.query(.internetPassword, [.securityDomain: .text("")]), keychain.query(.genericPassword, [:]),
        ]
        for query in queries {
            try keychain.forEachReadable(query) { item in
                let urls = item.user?["url"] ?? item.attributes?.loginField("url") ?? ""
                let isFor = urls.split(separator: " ").contains { url in
                    Self.origin(of: ServerAddress(origin: String(url))).hasSameBytes(as: origin)
                }
                if isFor { items.append(item) }
            }
        }
        return items.sorted { $0.modificationDate > $1.modificationDate }
    }

    /// The protocol, the host and the port, in one spelling.
    private static func origin(of address: ServerAddress) -> String {
        var origin = address.withoutUser
        origin.path = ""
        origin.protocol = origin.protocol ?? "https"
        return origin.normalized.url
    }

    private func login(of item: KeychainItemInfo) throws(CofferError) -> Login? {
        let content = try keychain.secret(of: item)
        let attributes = item.attributes ?? [:]
        let name: String
        let found: (username: String?, password: Secret?, urls: [String])
        if item.itemClass == .internetPassword {
            name = "login:\(attributes.text(.account))@\(attributes.text(.server))"
            found = (
                attributes.loginField("username"), try content.firstLine(), [attributes.loginField("url") ?? ""]
            )
        } else {
            name = [attributes.text(.service), attributes.text(.account)].filter { !$0.isEmpty }.joined(separator: "/")
            guard let fields = SecretFields(content) else { return nil }
            found = (
                try fields.value(of: "username")?.exposeText(), try fields.value(of: SecretFields.password),
                try fields.addresses()
            )
        }
        guard let own = found.username, let password = found.password, username?.hasSameBytes(as: own) ?? true,
            found.urls.isEmpty ? isFor(address.host) : found.urls.contains(where: isFor)
        else { return nil }
        return Login(name: name, username: own, password: password)
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

extension [KeychainAttribute: AttributeValue] {
    fileprivate func text(_ attribute: KeychainAttribute) -> String {
        if case .text(let text) = self[attribute] { text } else { "" }
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
