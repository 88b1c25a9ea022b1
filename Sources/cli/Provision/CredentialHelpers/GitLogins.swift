internal import CofferClient
internal import CofferSecretFormats

/// The logins that a person has stored with `coffer login add`, as git finds them: under the name of the host.
struct GitLogins {
    let keychain: CredentialKeychain
    let request: GitRequest

    /// The first login for the address of the request that the search accepts.
    ///
    /// Logins are named `HOST` or `HOST/WHATEVER`. What is there without the field `username` is no login, and an
    /// item that wants a person to authenticate is left alone.
    func first(
        where isWanted: (GitCredential) throws(CofferError) -> Bool
    ) throws(CofferError) -> (name: String, credential: GitCredential)? {
        guard let address = request.address, !address.host.isEmpty else { return nil }
        let queries = address.spellings.map(\.host).reduce(into: [String]()) { hosts, host in
            if !hosts.contains(host) { hosts.append(host) }
        }.flatMap { (host) -> [[KeychainAttribute: AttributeValue]] in
            [[.service: .text(host)], [.service: .text(""), .account: .text(host)]]
        }
        for attributes in queries {
            for item in try keychain.items(keychain.query(.genericPassword, attributes)) {
                guard !item.isExpired, item.accessControl == nil, let found = try credential(of: item) else { continue }
                if try isWanted(found) { return (Self.name(of: item), found) }
            }
        }
        return nil
    }

    private func credential(of item: KeychainItemInfo) throws(CofferError) -> GitCredential? {
        guard let fields = SecretFields(try keychain.secret(of: item)),
            let username = try fields.value(of: "username")?.exposeText(),
            let password = try fields.value(of: SecretFields.password),
            request.username?.hasSameBytes(as: username) ?? true,
            isFor(try fields.addresses())
        else { return nil }
        return GitCredential(username: username, password: password)
    }

    /// Whether a login with these addresses, or with none of its own, is one for the request.
    private func isFor(_ urls: [String]) -> Bool { urls.isEmpty ? isFor(nil) : urls.contains { isFor($0) } }

    /// Whether a login with that address is one for the request; without a protocol it is for https alone.
    private func isFor(_ url: String?) -> Bool {
        guard var wanted = request.address else { return false }
        var own = ServerAddress(url: url ?? wanted.host).withoutUser
        own.protocol = own.protocol ?? "https"
        wanted.path = request.path.map { "/\($0)" } ?? own.path
        return own.means(wanted)
    }

    private static func name(of item: KeychainItemInfo) -> String {
        func text(_ attribute: KeychainAttribute) -> String {
            if case .text(let text) = item.attributes?[attribute] { text } else { "" }
        }
        return text(.service).isEmpty ? text(.account) : "\(text(.service))/\(text(.account))"
    }
}
