internal import CofferClient
internal import CofferContents

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
        guard let host = request.host, !host.isEmpty else { return nil }
        let queries: [[KeychainAttribute: AttributeValue]] = [
            [.service: .text(host)], [.service: .text(""), .account: .text(host)],
        ]
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
            isFor(try fields.value(of: "url")?.exposeText())
        else { return nil }
        return GitCredential(username: username, password: password)
    }

    /// Whether a login with that address is one for the request; without a protocol it is for https alone.
    private func isFor(_ url: String?) -> Bool {
        guard let wanted = request.address else { return false }
        let own = ServerAddress(url: url ?? request.host ?? "")
        guard own.protocol ?? "https" == wanted.protocol, own.serverWithoutUser == wanted.server,
            own.port == wanted.port
        else { return false }
        return request.path.map { own.path == "/\($0)" } ?? true
    }

    private static func name(of item: KeychainItemInfo) -> String {
        func text(_ attribute: KeychainAttribute) -> String {
            if case .text(let text) = item.attributes?[attribute] { text } else { "" }
        }
        return text(.service).isEmpty ? text(.account) : "\(text(.service))/\(text(.account))"
    }
}
