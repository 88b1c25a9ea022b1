internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

/// A protection class or an accessibility on the command line; no name is both.
struct ProtectionArgument: ExpressibleByArgument {
    /// The class or the accessibility.
    let protection: Protection

    init?(argument: String) {
        if let protectionClass = ProtectionClass(rawValue: argument) {
            protection = .file(protectionClass)
        } else if let accessibility = Accessibility(rawValue: argument) {
            protection = .keychain(accessibility)
        } else {
            return nil
        }
    }

    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

    static var allValueStrings: [String] {
        ProtectionClass.allCases.map(\.rawValue) + Accessibility.allCases.map(\.rawValue)
    }
}

struct Protect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Change the protection of an item; its content stays as it is.",
        discussion: """
            CLASS is a protection class for a file, or an accessibility for an item of the keychain. One of the other \
            store becomes the one that means the same in the item's store. An item keeps its store, unless --store names the \
            other one. With --default, '/' stands for all new files that \
            no directory has a class for.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Argument(help: ArgumentHelp("The class or the accessibility.", valueName: "class"))
    var protection: ProtectionArgument?

    @OptionGroup var readability: ReadabilityOptions

    @Flag(name: .shortAndLong, help: "Change all files in a directory, and new ones.")
    var recursive = false

    @Flag(name: .customLong("default"), help: "Change the class of new files in a directory only.")
    var isDefault = false

    @Option(help: "Move the item to this store, with its attributes and its former values.")
    var store: StoreName?

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard protection != nil || readability.readable != nil || store != nil else {
            throw ValidationError("give CLASS, --readable or --store")
        }
        try exclude(["CLASS": protection != nil], ["--readable": readability.readable != nil])
        try exclude(["--store": store != nil], ["--recursive": recursive, "--default": isDefault])
    }

    func run() throws {
        let scope = try FileProtectionScope(isRecursive: recursive, isDefault: isDefault)
        if scope != .file {
            let client = try authentication.connect().client
            return try changeClass(of: name, to: fileClass(), scope, in: access.group, client, format)
        }
        let itemName = try ItemName(argument: name)
        let params = ItemProtectParameters(
            name: itemName,
            protectionClass: protectionClass,
            accessibility: accessibility,
            store: store,
            group: access.group
        )
        let change = try authentication.connect().call(params).value
        Output.warn(change.warnings)
        let now = change.item.protection
        format.show(change.json, "protected \(itemName.quoted) in the \(now.store.words); \(now.sentence)")
    }

    private var protectionClass: ProtectionClass? {
        if case .file(let protectionClass)? = protection?.protection { return protectionClass }
        return readability.readable?.protectionClass
    }

    private var accessibility: Accessibility? {
        if case .keychain(let accessibility)? = protection?.protection { return accessibility }
        return readability.readable?.accessibility
    }

    private func fileClass() throws(CofferError) -> ProtectionClass {
        guard let protectionClass else {
            throw CofferError(
                .param,
                "an accessibility is for secrets, and a directory has files",
                hint: "name a protection class, such as 'complete'"
            )
        }
        return protectionClass
    }
}
