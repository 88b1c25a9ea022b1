internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal
internal import Glibc

/// The program `cargo-credential-coffer`, a credential provider of cargo.
///
/// Both sides write lines of JSON, and an error is an answer as well.
struct CargoCredentialProvider: Executable {
    static let configuration = CommandConfiguration(
        commandName: "cargo-credential-coffer",
        abstract: "Gives cargo the tokens of registries that Coffer keeps.",
        discussion: """
            cargo runs it if its configuration has global-credential-providers = ["cargo-credential-coffer"] below [registry]; \
            options stand behind the name there. 'cargo login' stores a token as an internet password of the keychain, with the \
            security domain 'cargo', and 'cargo logout' deletes it; each registry has one.
            """,
        version: "cargo-credential-coffer \(Version.program)"
    )

    @Flag(help: "Speak the protocol of cargo, which gives this option.")
    var cargoPlugin = false

    @OptionGroup var options: CredentialHelperOptions

    /// What sets cargo's tokens apart from other passwords for the same server.
    private static let domain: [KeychainAttribute: AttributeValue] = [.securityDomain: .text("cargo")]

    func run() throws {
        guard cargoPlugin else {
            throw CofferError(
                .param,
                "cargo runs this program, with --cargo-plugin",
                hint:
                    #"write global-credential-providers = ["cargo-credential-coffer"] below [registry] in ~/.cargo/config.toml"#
            )
        }
        Output.standardOutput.line(["v": [1]])
        var lines = try CredentialLines(from: STDIN_FILENO)
        while let line = try lines.next(), line.content.count > 0 {
            do throws(CofferError) {
                guard !line.isCut else { throw .tooLongForCargo }
                try answer(try CargoRequest(parsing: line.content))
            } catch {
                Output.standardOutput.line(Self.failure(error))
            }
        }
    }

    private static func failure(_ error: CofferError) -> JSONObject {
        let hint = error.hint.map { "; \($0)" } ?? ""
        let reason: JSONObject =
            switch error.code {
            case .itemNotFound: ["kind": "not-found"]
            case .unimplemented: ["kind": "operation-not-supported"]
            default: ["kind": "other", "message": .string(error.message + hint), "caused-by": []]
            }
        return ["Err": .object(reason)]
    }

    private func answer(_ request: CargoRequest) throws(CofferError) {
        let keychain = try options(of: request).connect(for: "cargo")
        let address = ServerAddress(url: request.index)
        let items = try keychain.items(for: address, address.attributes.merging(Self.domain) { $1 })
        switch request.action {
        case .get:
            guard let item = items.first else { throw .noCargoToken }
            return try CargoRequest.answer(with: try keychain.secret(of: item)).write(to: STDOUT_FILENO, "the token")
        case .login:
            try store(try Self.token(of: request), for: request, items, keychain)
        case .logout:
            guard !items.isEmpty else { throw .noCargoToken }
            for item in items { try keychain.delete(item) }
        }
        Output.standardOutput.line(["Ok": ["kind": .string(request.action.rawValue)]])
    }

    /// The options that the configuration of cargo gives, or else the command line.
    private func options(of request: CargoRequest) throws(CofferError) -> CredentialHelperOptions {
        if request.options.isEmpty { return options }
        do { return try CredentialHelperOptions.parse(request.options) } catch {
            throw CofferError(
                .param,
                "cargo's configuration has words behind 'cargo-credential-coffer' that are no options of it",
                hint: "'cargo-credential-coffer --help' lists them"
            )
        }
    }

    private func store(
        _ token: Secret,
        for request: CargoRequest,
        _ items: [KeychainItemInfo],
        _ keychain: CredentialKeychain
    ) throws(CofferError) {
        guard let kept = items.first else {
            var attributes = ServerAddress(url: request.index).attributes.withoutEmptyOnes.merging(Self.domain) { $1 }
            attributes[.account] = .text(request.registry ?? "token")
            return try keychain.add(attributes, token)
        }
        try keychain.replace(kept, [:], with: token)
        // Of two that stored at the same time, the later one counts.
        for item in items.dropFirst() { try keychain.delete(item) }
    }

    /// The token of `cargo login`, which leaves it to the provider to ask for one.
    private static func token(of request: CargoRequest) throws(CofferError) -> Secret {
        if let token = request.token { return token }
        let registry = request.registry ?? request.index
        let page: Line = request.loginPage.map { ", which \(name: $0) shows" } ?? ""
        return Secret(
            try SecretInput.ask(
                "Token for \(name: registry)\(page): ",
                limit: CredentialLines.maximumBytes,
                orElse: "run 'cargo login' on a terminal"
            )
        )
    }
}

extension CofferError {
    fileprivate static let noCargoToken = CofferError(.itemNotFound, "the vault has no token for the registry")

    fileprivate static let tooLongForCargo = CofferError(
        .dataTooLarge,
        "cargo's request has more than \(CredentialLines.maximumBytes) bytes"
    )
}
