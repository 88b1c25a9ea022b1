internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory
internal import CofferCommandSupport
internal import CofferTerminal

struct AddKeychainItem: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item.",
        discussion: """
            The secret comes from FILE, or from standard input; on a terminal it is asked for without echo. A certificate is \
            PEM or DER; a key is what ssh-keygen and openssl write, 32 raw bytes, or any bytes with \
            --key-class symmetric. Prints the reference of the item.
            """
    )

    @Argument(help: ArgumentHelp("The file with the secret.", valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup var item: KeychainItemOptions

    @Option(help: "When the secret can be read.")
    var accessible: Accessibility?

    @Option(help: ArgumentHelp("Until when it is good: a date, or a time from now such as 90d.", valueName: "date"))
    var expires: String?

    @Option(help: ArgumentHelp("How many former values of the secret are kept, 0 to 100.", valueName: "count"))
    var history: Int?

    @Option(help: "What reading the secret requires besides: words such as userPresence, joined by commas.")
    var accessControl: String?

    @Option(help: "Make a pair of keys inside the daemon.")
    var generate: KeyType?

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(["--generate": generate != nil], ["FILE": file != nil])
    }

    func run() throws {
        let itemClass = item.itemClass?.itemClass ?? (generate == nil ? .genericPassword : .key)
        var attributes = try item.attributes()
        if let expires { attributes[.expiryDate] = .date(try Moment.milliseconds(expires, of: "--expires")) }
        attributes.warnOfPastExpiry()
        let given = try authentication.readGiven()
        var user = try item.user()
        let secret = generate == nil ? Secret(try readSecret(itemClass, &attributes, &user)) : nil
        let params = KeychainAddParameters(
            itemClass,
            attributes,
            user: user,
            accessibility: accessible,
            historyCount: history,
            accessControl: try accessControl.map { (words) throws(CofferError) in try AccessControl(argument: words) },
            generates: generate
        )
        let session = try authentication.connect(with: given)
        try session.showNewPassword(for: params.accessControl)
        let result = try session.client.call(params, payload: secret).value
        Output.warn(result.warnings)
        format.show(result.json, "\(result.reference.hexadecimal)")
    }

    private func readSecret(
        _ itemClass: ItemClass,
        _ attributes: inout [KeychainAttribute: AttributeValue],
        _ user: inout [AttributeName: String]
    ) throws(CofferError) -> SecretBytes {
        if itemClass == .certificate { return try SecretInput.certificate(of: file) }
        if itemClass == .key && attributes[.keyClass] != .text("symmetric") { return try readKey(&attributes, &user) }
        return try SecretInput.content(of: file, prompt: "Secret: ", limit: Limits.secretBytes)
    }

    private func readKey(
        _ attributes: inout [KeychainAttribute: AttributeValue],
        _ user: inout [AttributeName: String]
    ) throws(CofferError) -> SecretBytes {
        let input = try SecretInput.content(of: file, prompt: "Key: ", limit: Limits.secretBytes)
        let key = try KeyInput(from: input, passphrase: { () throws(CofferError) in try passphrase.read() })
        try key.describe(&attributes, &user)
        return key.takeBytes()
    }
}
