internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct AddLogin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Store a user name and a password.",
        discussion: """
            They are one secret with the fields password, username and url, which 'coffer get NAME --field username' \
            reads. The password comes from standard input, or from a prompt on a terminal; --generate makes a random one.
            """
    )

    @Argument(help: "The name, a path such as github.com/nina.", completion: .itemName)
    var name: String

    @Option(help: ArgumentHelp("The user name.", valueName: "user"))
    var username: String

    @Option(help: "The address of the site.")
    var url: String?

    @Flag(help: "Make a random password; --length and the like say which.")
    var generate = false

    @OptionGroup var recipe: PasswordRecipe

    @Flag(help: "Replace what is stored there.")
    var replace = false

    @OptionGroup var protection: NewProtectionOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try recipe.validate()
        try require("--generate", generate, for: ["a recipe such as --length": !recipe.isUsual])
    }

    func run() throws {
        let itemName = try ItemName(argument: name)
        let protection = try protection.protection()
        let given = try authentication.readGiven()
        let password = try generate ? recipe.password() : Self.read(itemName)
        let secret = try content(password)
        let session = try authentication.connect(with: given)
        let stored = try session.secretIfPresent(itemName, in: access.group)
        if let stored {
            guard replace else {
                throw CofferError.exists(
                    "\(itemName.quoted)",
                    hint: "--replace replaces it; 'coffer put NAME --field F' changes one field"
                )
            }
            try session.replace(stored, with: secret, protecting: protection)
        } else {
            let wishes = PlacementOptions(newSecretIn: access.group)
            try session.create(itemName, secret, wishes, protecting: protection)
        }
        if generate { Output.standardError.line(recipe.strength) }
        var report = StoredReport(name: itemName, isReplaced: stored != nil)
        if generate { report.more = [("entropyBits", .integer(Int64(recipe.bits)))] }
        format.show(report)
    }

    private static func read(_ name: ItemName) throws(CofferError) -> Secret {
        if isTypedInput {
            return try SecretInput.askTwice(
                "Password for \(name.quoted): ",
                "Repeat password: ",
                of: "password",
                limit: Limits.passcodeBytes
            ) { (typed) throws(CofferError) in try require(typed) }
        }
        let content = Secret(try SecretInput.readAll(from: 0, limit: Limits.secretBytes, "standard input"))
        let password = try content.withoutLineEnd()
        try require(password)
        return password
    }

    private static func require(_ password: Secret) throws(CofferError) {
        guard password.count > 0 else {
            throw CofferError(.param, "there is no password", hint: "type one, or give --generate")
        }
    }

    /// The password above the lines of the other fields.
    private func content(_ password: Secret) throws(CofferError) -> Secret {
        var lines: [UInt8] = [10]
        for (field, value) in [("username", username as String?), ("url", url)] {
            guard let value else { continue }
            lines += Array("\(field): \(value)\n".utf8)
        }
        let content = try Secret(capacity: password.count + lines.count) { (output) throws(CofferError) in
            password.withBytes { output.append($0) }
            output.append(lines)
        }
        // Each field has to be read as it was given.
        let expected: [(String, Secret?)] = [
            (SecretFields.password, password), ("username", try Secret(exposed: username)),
            ("url", try url.map { (url) throws(CofferError) in try Secret(exposed: url) }),
        ]
        let fields = SecretFields(content)
        for (field, value) in expected {
            guard let value else { continue }
            guard let fields, let stored = try fields.value(of: field), stored.isEqual(to: value) else {
                throw CofferError(
                    .param,
                    "the \(field) can't be stored as a line of a login",
                    hint:
                        "it has one line without spaces around it, and a password does not begin like a field or a comment"
                )
            }
        }
        return content
    }
}
