internal import ArgumentParser
internal import CofferClient
internal import CofferSession

/// The options that describe an item.
struct PlacementArguments: ParsableArguments {
    @Option(help: "What it is.")
    var kind: ItemKind?

    @Option(help: "What it is used for: decides its protection.")
    var scenario: Scenario?

    @Option(help: "When it can be read, as a protection class of files.")
    var protection: ProtectionClass?

    @Option(help: "When it can be read, as an accessibility of the keychain.")
    var accessible: Accessibility?

    @OptionGroup var access: GroupOptions

    @Option(help: "The store, instead of the one that Coffer would choose.")
    var store: StoreName?

    @Flag(help: "The content consists of fields with names.")
    var structured = false

    /// The options as parameters of a request.
    ///
    /// A file and a pipe are the same content: neither is presented as a file.
    var wishes: PlacementOptions {
        var wishes = PlacementOptions()
        wishes.kind = kind
        wishes.scenario = scenario
        wishes.protectionClass = protection
        wishes.accessibility = accessible
        wishes.group = access.group
        wishes.store = store
        wishes.isStructured = structured
        return wishes
    }
}
