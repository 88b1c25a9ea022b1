internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCrypto
internal import CofferMemory
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

struct Generate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Make a random password and store it.",
        discussion: """
            The password is not printed, unless --print is given. How hard it is to guess is said in bits, on standard \
            error. An item that exists already is replaced only with --replace, or if you confirm it on a terminal.
            """,
        aliases: ["gen", "pw"]
    )

    @Argument(help: "The name, a path such as github.com/token.", completion: .itemName)
    var name: String

    @OptionGroup var recipe: PasswordRecipe

    @Option(help: "Store it as this field of the secret, and keep all else.")
    var field: String?

    @Flag(help: "Replace what is stored there.")
    var replace = false

    @Flag(help: "Print the password, too.")
    var print = false

    @OptionGroup var protection: NewProtectionOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if print && format.json { throw ValidationError("a secret is never inside JSON: leave out --print or --json") }
        try recipe.validate()
    }

    func run() throws {
        let itemName = try ItemName(argument: name)
        let protection = try protection.protection()
        let session = try authentication.connect()
        let stored = try session.secretIfPresent(itemName, in: access.group)
        let fields = field == nil ? nil : try stored?.fields()
        let isTaken = stored != nil && (field == nil || fields?.names.contains(field ?? "") == true)
        if isTaken && !replace { try confirm(itemName) }
        let password = try recipe.password()
        let report = try store(password, itemName, over: stored, protection, session)
        Output.standardError.line("\(recipe.strength)")
        if print { return try Output.standardOutput.line(password) }
        format.show(report)
    }

    private func store(
        _ password: Secret,
        _ name: ItemName,
        over stored: StoredSecret?,
        _ protection: NewProtection,
        _ session: Session
    ) throws(CofferError) -> StoredReport {
        var report = StoredReport(name: name, field: field, isReplaced: stored != nil)
        if let field {
            let wishes = PlacementOptions(newSecretIn: access.group)
            report =
                if let stored {
                    try session.setField(field, of: stored, to: password, protecting: protection)
                } else {
                    try session.setField(field, of: name, to: password, wishes, protecting: protection)
                }
        } else if let stored {
            try session.replace(stored, with: password, protecting: protection)
        } else {
            let wishes = PlacementOptions(newSecretIn: access.group)
            try session.create(name, password, wishes, protecting: protection)
        }
        report.more = [("entropyBits", .integer(Int64(recipe.bits)))]
        return report
    }

    private func confirm(_ name: ItemName) throws(CofferError) {
        let what: Line =
            field.map { "the field \(quotedForDisplay($0)) of \(name.quoted)" } ?? "\(name.quoted)"
        guard isTypedInput, let terminal = try? SecretInput.openTerminal(orElse: "")
        else { throw .exists(what, hint: "--replace replaces it; the keychain keeps the former value") }
        guard try Question(terminal: terminal.number).decide("\(what) exists already. Replace it?") else {
            throw .exists(what, hint: "nothing was changed")
        }
    }
}

extension CofferError {
    /// The error if something is stored there already.
    static func exists(_ what: Line, hint: String) -> CofferError {
        CofferError(.duplicateItem, "\(what.forPipe) exists already", hint: hint)
    }
}

/// What a password is made of.
struct PasswordRecipe: ParsableArguments {
    @Option(help: "The number of characters (default: 24).")
    var length: Int?

    @Flag(help: "Use punctuation, too.")
    var symbols = false

    @Option(help: ArgumentHelp("Use these characters only, all of ASCII.", valueName: "characters"))
    var alphabet: String?

    @Option(help: ArgumentHelp("Choose so many words of a list instead.", valueName: "count"))
    var words: Int?

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    // Without those that have a meaning where passwords are pasted, or in the lines of fields.
    private static let punctuation = Array("!@$%^&*()-_+.,?/~".utf8)
    /// The words of the list, which a test counts.
    static let listedWords = 7776

    func validate() throws {
        let others: KeyValuePairs = ["--length": length != nil, "--symbols": symbols, "--alphabet": alphabet != nil]
        try exclude(["--words": words != nil], others)
        try exclude(["--symbols": symbols], ["--alphabet": alphabet != nil])
        guard (1...Limits.passwordLength).contains(length ?? words ?? 1) else {
            throw ValidationError("a password has 1 to \(Limits.passwordLength) characters or words")
        }
        guard let alphabet else { return }
        let bytes = Array(alphabet.utf8)
        guard bytes.allSatisfy({ (0x21..<0x7F).contains($0) }), Set(bytes).count == bytes.count, bytes.count > 1 else {
            throw ValidationError("--alphabet takes two or more different characters of ASCII, without spaces")
        }
    }

    /// Whether nothing was said.
    var isUsual: Bool { length == nil && !symbols && alphabet == nil && words == nil }

    private var usedLength: Int { length ?? Limits.defaultPasswordLength }

    private var characters: [UInt8] {
        alphabet.map { Array($0.utf8) } ?? Self.letters + (symbols ? Self.punctuation : [])
    }

    /// The entropy: the logarithm of how many passwords there are, to the base of 2, rounded down.
    var bits: Int {
        let (count, choices) = words.map { ($0, Self.listedWords) } ?? (usedLength, characters.count)
        return Int(Double(count) * log2(Double(choices)))
    }

    /// What a person reads about the strength.
    var strength: Line {
        let what: Line =
            words.map { "\($0) of \(Self.listedWords) words" }
            ?? "\(usedLength) of \(characters.count) characters"
        return "\(bits) bits of entropy: \(what)"
    }

    /// A new password.
    func password() throws(CofferError) -> Secret {
        do {
            guard let words else {
                return Secret(try RandomText.characters(usedLength, from: characters))
            }
            return Secret(try RandomText.words(words, from: WordList.text, separator: UInt8(ascii: "-")))
        } catch {
            throw .noSecretMemory
        }
    }
}
