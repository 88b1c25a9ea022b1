internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

struct UpdateKeychainItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change every item that is found.",
        discussion: """
            A new secret comes from FILE, or with --secret from standard input; on a terminal it is asked for without echo. \
            Its former value is kept. Prints how many items there were.
            """
    )

    @Argument(help: ArgumentHelp("The file with the new secret.", valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup var query: KeychainQueryOptions

    @Flag(help: "Change every item of the class.")
    var all = false

    @Flag(help: "Give a new secret by standard input.")
    var secret = false

    @Option(help: ArgumentHelp("Set an attribute, by its name in JSON output.", valueName: "name=value"))
    var set: [PairArgument] = []

    @Option(help: ArgumentHelp("Remove an attribute.", valueName: "name"))
    var unset: [String] = []

    @Option(help: ArgumentHelp("Set an attribute of your own.", valueName: "name=value"))
    var setAttribute: [PairArgument] = []

    @Option(help: ArgumentHelp("Remove an attribute of your own.", valueName: "name"))
    var unsetAttribute: [String] = []

    @Option(help: "When the secret can be read.")
    var accessible: Accessibility?

    @Option(help: ArgumentHelp("How many former values of the secret are kept, 0 to 100.", valueName: "count"))
    var history: Int?

    @Option(
        help: "What reading the secret requires besides: words joined by commas; 'none' removes it."
    )
    var accessControl: String?

    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let wanted = try query.query()
        try wanted.requireCondition(orAll: all, "change")
        let change = try self.change()
        let given = try authentication.readGiven()
        if change.isEmpty && !secret && file == nil {
            throw CofferError(
                .param,
                "there is nothing to change",
                hint:
                    "say --secret, FILE, --set, --unset, --set-attribute, --unset-attribute, --accessible, --access-control or --history"
            )
        }
        let value = secret || file != nil ? try newSecret(wanted.itemClass) : nil
        let session = try authentication.connect(with: given)
        try session.showNewPassword(for: change.accessControl)
        let update = KeychainUpdateParameters(wanted, change, replacingBy: value, isForAll: all)
        let result = try session.call(update, payload: value).value
        Output.warn(result.warnings)
        format.show(result.json, "updated \(result.count)")
    }

    private func newSecret(_ itemClass: ItemClass?) throws(CofferError) -> Secret {
        if itemClass == .certificate { return Secret(try SecretInput.certificate(of: file)) }
        return Secret(try SecretInput.content(of: file, prompt: "New secret: ", limit: Limits.secretBytes))
    }

    private func change() throws(CofferError) -> KeychainChange {
        var attributes: [KeychainAttribute: AttributeValue] = [:]
        for pair in set {
            let (attribute, value) = try pair.attribute("--set")
            attributes[attribute] = value
        }
        attributes.warnOfPastExpiry()
        var removed: Set<KeychainAttribute> = []
        for name in unset { removed.insert(try KeychainAttribute(argument: name, of: "--unset")) }
        let user = try texts(of: setAttribute, "--set-attribute")
        var removedUser: Set<AttributeName> = []
        for name in unsetAttribute {
            removedUser.insert(AttributeName(try textArgument(name, of: "--unset-attribute")))
        }
        if !removed.isDisjoint(with: attributes.keys) || !removedUser.isDisjoint(with: user.keys) {
            throw CofferError(.param, "an attribute can't be given a value and be taken away at once")
        }
        let control: AccessControl? =
            if let accessControl, accessControl != "none" { try AccessControl(argument: accessControl) } else { nil }
        return KeychainChange(
            attributes: attributes,
            removedAttributes: removed,
            user: user,
            removedUser: removedUser,
            accessibility: accessible,
            historyCount: history,
            accessControl: control,
            removesAccessControl: accessControl == "none"
        )
    }
}

struct DeleteKeychainItems: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete every item that is found, in every state of the vault.",
        discussion: "Prints how many items there were."
    )

    @OptionGroup var query: KeychainQueryOptions

    @Flag(help: "Delete every item of the class.")
    var all = false

    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let wanted = try query.query()
        try wanted.requireCondition(orAll: all, "delete")
        let result = try authentication.connect().call(KeychainDeleteParameters(wanted, isForAll: all)).value
        format.show(result.json, "deleted \(result.count)")
    }
}

extension KeychainQuery {
    /// Refuses a query that every item of its class meets, unless all of them are meant.
    fileprivate func requireCondition(orAll isForAll: Bool, _ verb: String) throws(CofferError) {
        if isForAll || hasCondition { return }
        throw CofferError(
            .param,
            "the query finds every item of class '\(itemClass?.kebabCase ?? "")'",
            hint: "say what to \(verb), or --all"
        )
    }
}
