internal import ArgumentParser
internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import Glibc

/// The options that describe an item.
struct PlacementArguments: ParsableArguments {
    @Option(help: "What it is.")
    var kind: ItemKind?

    @Option(help: "What it is used for: decides its protection.")
    var scenario: Scenario?

    @OptionGroup var readability: ReadabilityOptions

    @Option(help: "When it can be read, by a class of files.")
    var protection: ProtectionClass?

    @Option(help: "When it can be read, by an accessibility of the keychain.")
    var accessible: Accessibility?

    @OptionGroup var access: GroupOptions

    @Option(help: "The store, instead of the one that Coffer would choose.")
    var store: StoreName?

    @Flag(help: "The content consists of fields with names.")
    var structured = false

    func validate() throws {
        let classes: KeyValuePairs = ["--protection": protection != nil, "--accessible": accessible != nil]
        try exclude(["--readable": readability.readable != nil], classes)
    }

    /// The options as parameters of a request.
    var wishes: PlacementOptions {
        var wishes = PlacementOptions()
        wishes.kind = kind
        wishes.scenario = scenario
        wishes.protectionClass = protection
        wishes.accessibility = accessible
        wishes.group = access.group
        wishes.store = store
        wishes.isStructured = structured
        return NewProtection(readable: readability.readable).changing(wishes)
    }
}

extension PlacementOptions {
    /// The options for the content of a file that was named as an argument.
    ///
    /// - Parameter file: The open file. A pipe is not presented as a file, though it may have a name.
    func presenting(_ file: borrowing OwnedDescriptor) -> PlacementOptions {
        var options = self
        options.isPresentedAsFile = (try? file.status()).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
        return options
    }
}
