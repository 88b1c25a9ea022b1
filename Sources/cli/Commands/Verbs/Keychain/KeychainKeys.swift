internal import ArgumentParser
internal import CofferClient
internal import CofferMemory
internal import CofferCommandSupport
internal import CofferTerminal

extension KeychainQueryOptions {
    /// The query of a verb that uses keys: of class `key` if nothing is said.
    fileprivate func keyQuery() throws(CofferError) -> KeychainQuery {
        var query = try query()
        if query.reference == nil && item.itemClass == nil { query.itemClass = .key }
        return query
    }
}

struct SignWithKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign FILE, or standard input, with a private key of ed25519, RSA or ECDSA.",
        discussion: """
            Writes the signature to standard output as it is: 64 bytes of ed25519, PKCS #1 v1.5 of RSA, DER of \
            ECDSA.
            """
    )

    @Argument(help: ArgumentHelp("The file to sign.", valueName: "file"), completion: .file())
    var file: String?

    @Option(
        help: ArgumentHelp(
            "The hash: any of RSA, that of the curve's size of ECDSA. (default: sha256 of RSA)",
            valueName: "digest"
        )
    )
    var digest: SignatureDigest?

    @OptionGroup var query: KeychainQueryOptions
    @OptionGroup var output: BytesOutputOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let wanted = try query.keyQuery()
        let message = Secret(
            try SecretInput.content(of: file, prompt: "Message: ", limit: Limits.framePayloadBytes)
        )
        let session = try authentication.connect()
        let answer = try waiting.repeating(on: session.client) { () throws(CofferError) in
            try session.call(KeychainSignParameters(wanted, digest: digest), payload: message)
        }
        try output.write(try answer.payload.ofSignatureSize(), "the signature")
    }
}

struct AgreeWithKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agree",
        abstract: "Agree on a secret with the owner of another key, by a private key of x25519.",
        discussion: "Writes the shared secret, 32 bytes, to standard output as it is."
    )

    @Option(help: ArgumentHelp("The other side's public key.", valueName: "base64"))
    var peer: String

    @OptionGroup var query: KeychainQueryOptions
    @OptionGroup var output: BytesOutputOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let wanted = try query.keyQuery()
        guard let key = Base64.decode(peer), key.count == 32 else {
            throw CofferError(.param, "--peer \(quotedForDisplay(peer)): expected 32 bytes in base64")
        }
        let session = try authentication.connect()
        let answer = try waiting.repeating(on: session.client) { () throws(CofferError) in
            try session.call(KeychainAgreeParameters(wanted, peer: key))
        }
        try output.write(try answer.payload.ofSize(32, "shared secret"), "the shared secret")
    }
}

struct ShowPublicKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public-key",
        abstract: "Print the public key of a key or a certificate, as base64."
    )

    @OptionGroup var query: KeychainQueryOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let params = KeychainPublicKeyParameters(try query.keyQuery())
        let key = try authentication.connect().call(params).value
        format.show(key.json, "\(Base64.encode(key.bytes))")
    }
}
