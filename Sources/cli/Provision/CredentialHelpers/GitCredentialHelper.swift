internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal
internal import Glibc

/// The program `git-credential-coffer`.
struct GitCredentialHelper: Executable {
    static let configuration = CommandConfiguration(
        commandName: "git-credential-coffer",
        abstract: "Gives git the passwords that Coffer keeps.",
        discussion: """
            git runs it after 'git config --global credential.helper coffer', and writes the request to standard input: see \
            gitcredentials(7). Passwords are internet passwords of the keychain; a login of 'coffer login add' or of an import is \
            found by its address, too.
            """,
        version: "git-credential-coffer \(Version.program)"
    )

    @OptionGroup var options: CredentialHelperOptions

    @Argument(
        help: "The operation: get, store or erase. Any other is ignored.",
        completion: .list(["get", "store", "erase"])
    )
    var operation: String

    func run() throws {
        switch operation {
        case "get": try give()
        case "store": try store()
        case "erase": try erase()
        // One of a later version of git.
        default: break
        }
    }

    private func keychain() throws(CofferError) -> CredentialKeychain {
        let refusals = ["0", "false", "no", "off"]
        let mayAsk = environment("GIT_TERMINAL_PROMPT").map { !refusals.contains($0.lowercased()) } ?? true
        return try options.connect(for: "git", mayAsk: mayAsk)
    }

    // MARK: get

    private func give() throws(CofferError) {
        let request = try GitRequest(CredentialLines(from: STDIN_FILENO))
        guard request.attributes != nil else { return }
        do throws(CofferError) {
            guard let found = try credential(for: request, try keychain()) else { return }
            let lines = try found.lines()
            if Output.standardOutput.isTerminal { return try BytesOutputOptions.show(lines, "the credential") }
            try lines.write(to: STDOUT_FILENO, "the credential")
        } catch {
            // Then git asks neither another helper nor the person for what the vault may have.
            if error.code == .interactionNotAllowed || error.code == .authFailed {
                Output.standardOutput.line("quit=1")
            }
            throw error
        }
    }

    private func credential(
        for request: GitRequest,
        _ keychain: CredentialKeychain
    ) throws(CofferError) -> GitCredential? {
        guard let address = request.address, let attributes = request.attributes else { return nil }
        let items = try keychain.items(for: address, attributes)
        // One that has expired may still have what renews it.
        for item in items.filter({ !$0.isExpired }) + items.filter(\.isExpired) {
            if let found = try GitCredential(item, try keychain.secret(of: item)) { return found }
        }
        func credential(of login: Login) -> GitCredential? {
            GitCredential(username: login.username, password: login.password)
        }
        return try logins(for: request, keychain)?.first { credential(of: $0) != nil }.flatMap(credential)
    }

    private func logins(for request: GitRequest, _ keychain: CredentialKeychain) -> Logins? {
        request.address.map {
            Logins(keychain: keychain, address: $0, path: request.path.map { "/\($0)" }, username: request.username)
        }
    }

    // MARK: store

    private func store() throws(CofferError) {
        let request = try GitRequest(CredentialLines(from: STDIN_FILENO))
        guard let address = request.address, let username = request.username, let password = request.password,
            let content = try request.content()
        else { return }
        let keychain = try keychain()
        var attributes = address.attributes
        attributes[.account] = .text(username)
        attributes[.securityDomain] = .text("")
        attributes[.authenticationType] = .text("")
        let date = request.expiryDate.map { AttributeValue.date($0) }
        if let item = try keychain.items(for: address, attributes).first {
            let isSame = try keychain.secret(of: item).isEqual(to: content)
            if isSame && item.attributes?[.expiryDate] == date { return }
            let changes: [KeychainAttribute: AttributeValue] = date.map { [.expiryDate: $0] } ?? [:]
            let removed: Set<KeychainAttribute> =
                date == nil && item.attributes?[.expiryDate] != nil ? [.expiryDate] : []
            return try keychain.replace(item, changes, removing: removed, with: content)
        }
        // git stores what it was given; of a login there would be two.
        if try logins(for: request, keychain)?.first(where: { $0.password.isEqual(to: password) }) != nil { return }
        attributes = attributes.withoutEmptyOnes
        // A user name that is empty is one, and git does not ask for it.
        attributes[.account] = .text(username)
        attributes[.expiryDate] = date
        try keychain.add(attributes, content)
    }

    // MARK: erase

    private func erase() throws(CofferError) {
        let request = try GitRequest(CredentialLines(from: STDIN_FILENO))
        // That a token was refused, which another helper gave, says nothing of a password.
        guard let address = request.address, let attributes = request.attributes,
            !request.isOfOtherKind || request.password != nil
        else { return }
        let keychain = try keychain()
        var count = 0
        for item in try keychain.items(for: address, attributes) {
            if let password = request.password, try !hasPassword(item, password, keychain) { continue }
            try keychain.delete(item)
            count += 1
        }
        guard count == 0, let password = request.password else { return }
        let logins = logins(for: request, keychain)
        guard let login = try logins?.first(where: { $0.password.isEqual(to: password) }) else { return }
        Output.warn(["the password of the login \(quotedForDisplay(login.name)) was refused, and is kept"])
    }

    /// Whether the password of an item is one, whether it has expired or not.
    private func hasPassword(
        _ item: KeychainItemInfo,
        _ password: Secret,
        _ keychain: CredentialKeychain
    ) throws(CofferError) -> Bool {
        try keychain.secret(of: item).firstLine().isEqual(to: password)
    }
}
