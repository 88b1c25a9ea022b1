internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal
internal import Glibc

/// The program `docker-credential-coffer`, after the programs of docker-credential-helpers.
///
/// The program that runs it reads the text of an error from standard output, and compares some of them.
struct DockerCredentialHelper: Executable {
    private static let name = "docker-credential-coffer"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Gives docker, podman and skopeo the passwords that Coffer keeps.",
        discussion: """
            They run it if their configuration has "credsStore": "coffer", or "credHelpers" with "coffer" for a registry. \
            Passwords are internet passwords of the keychain, with the security domain 'docker'; each address has one.
            """,
        version: versionLine
    )

    @OptionGroup var options: CredentialHelperOptions

    @Argument(
        help: "The action: store, get, erase, list or version.",
        completion: .list(["store", "get", "erase", "list", "version"])
    )
    var action: String

    private static let versionLine = "\(name) (coffer) \(Version.program)"

    /// What sets docker's credentials apart from others for the same server.
    private static let domain: [KeychainAttribute: AttributeValue] = [.securityDomain: .text("docker")]

    static func report(_ error: CofferError) -> Int32 {
        let hint: Line = error.hint.map { "; \($0)" } ?? ""
        Output.standardOutput.line("\(error.message)\(hint)")
        return 1
    }

    static func misuse(_ error: any Error) -> CofferError { .docker("Usage: \(name) <store|get|erase|list|version>") }

    func run() throws {
        switch action {
        case "store": try store()
        case "get": try give()
        case "erase": try erase()
        case "list": try list()
        case "version": Output.standardOutput.line("\(Self.versionLine)")
        default: throw CofferError.docker("\(Self.name): unknown action: \(action)")
        }
    }

    private func keychain() throws(CofferError) -> CredentialKeychain { try options.connect(for: "docker") }

    // MARK: Input

    private func input() throws(CofferError) -> Secret {
        let input = Secret(
            try SecretInput.readAll(from: STDIN_FILENO, limit: Limits.dockerRequestBytes + 1, "standard input")
        )
        guard input.count <= Limits.dockerRequestBytes else {
            throw CofferError(.dataTooLarge, "standard input has more than \(Limits.dockerRequestBytes) bytes")
        }
        return input
    }

    private func serverURL() throws(CofferError) -> String {
        let input = try input()
        let url = input.withBytes { bytes in
            String(checking: Span<UInt8>(_bytes: bytes.extracting(bytes.trimmed(0..<bytes.byteCount))))
        }
        guard let url else { throw CofferError(.param, "the server URL is no text") }
        guard !url.isEmpty else { throw .docker("no credentials server URL") }
        return url
    }

    // MARK: Actions

    private func items(_ url: String, _ keychain: CredentialKeychain) throws(CofferError) -> [KeychainItemInfo] {
        let address = ServerAddress(url: url)
        return try keychain.items(for: address, address.attributes.merging(Self.domain) { $1 })
    }

    private func store() throws(CofferError) {
        let given = try DockerCredentials(parsing: try input())
        let keychain = try keychain()
        let account: [KeychainAttribute: AttributeValue] = [.account: .text(given.username)]
        let items = try items(given.serverURL, keychain)
        guard let kept = items.first(where: { $0.attributes?[.account] == account[.account] }) ?? items.first else {
            let attributes = ServerAddress(url: given.serverURL).attributes.withoutEmptyOnes
            return try keychain.add(attributes.merging(Self.domain) { $1 }.merging(account) { $1 }, given.secret)
        }
        try keychain.replace(kept, account, with: given.secret)
        // Of two that stored at the same time, the later one counts.
        for item in items where item.reference != kept.reference { try keychain.delete(item) }
    }

    private func give() throws(CofferError) {
        let url = try serverURL()
        let keychain = try keychain()
        let json = try credentials(url, keychain).json()
        if Output.standardOutput.isTerminal { return try BytesOutputOptions.show(json, "the credential") }
        try json.write(to: STDOUT_FILENO, "the credential")
    }

    private func credentials(_ url: String, _ keychain: CredentialKeychain) throws(CofferError) -> DockerCredentials {
        if let item = try items(url, keychain).first, case .text(let account)? = item.attributes?[.account] {
            return DockerCredentials(serverURL: url, username: account, secret: try keychain.secret(of: item))
        }
        let logins = Logins(keychain: keychain, address: ServerAddress(url: url).withoutUser)
        guard let login = try logins.first(where: { $0.password.count > 0 }) else { throw .noDockerCredentialsFound }
        return DockerCredentials(serverURL: url, username: login.username, secret: login.password)
    }

    private func erase() throws(CofferError) {
        let url = try serverURL()
        let keychain = try keychain()
        let items = try items(url, keychain)
        guard !items.isEmpty else { throw .noDockerCredentialsFound }
        for item in items { try keychain.delete(item) }
    }

    private func list() throws(CofferError) {
        let keychain = try keychain()
        var accounts = JSONObject()
        for item in try keychain.items(keychain.query(.internetPassword, Self.domain)) {
            guard let attributes = item.attributes, case .text(let account) = attributes[.account] else { continue }
            let url = ServerAddress(attributes).url
            if accounts[url] == nil { accounts.set(url, .string(account)) }
        }
        Output.standardOutput.line(accounts)
    }
}

extension CofferError {
    fileprivate static var noDockerCredentialsFound: CofferError { .docker("credentials not found in native keychain") }
}
