internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Duplicate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicate",
        abstract: "Store a copy of an item under another name, in the same store.",
        discussion: """
            The copy has the content, the kind, the group and the attributes of the item, and a history of its own. A secret \
            keeps its protection. A file gets that of a new file at its place, or of the original if that is stricter.
            """,
        aliases: ["cp"]
    )

    @Argument(help: "The name.", completion: .itemName)
    var old: String

    @Argument(help: "The name of the copy.", completion: .itemName)
    var new: String

    @Flag(help: "Replace an item that is there.")
    var replace = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let name = try ItemName(argument: old)
        let target = try ItemName(argument: new)
        let client = try connection.connect()
        let info = try client.call(ItemShowParameters(name: name, group: access.group)).value
        try info.requireCopyable("duplicated")
        if name == target { throw CofferError(.param, "\(name.quoted) can't be a copy of itself") }
        let params = ItemPutParameters(
            name: target,
            wishes: PlacementOptions(copying: info),
            attributes: info.attributesOfCopy,
            user: info.user ?? [:],
            isIfAbsent: !replace
        )
        do throws(CofferError) {
            let placement = try client.copy(name, info, as: params)
            Output.warn(placement.warnings)
            format.show(placement.json)
            client.warnIfNotLoadable(target, in: info.group, byteCount: info.byteCount)
        } catch {
            guard error.code == .duplicateItem else { throw error }
            throw CofferError(
                .duplicateItem,
                "there is an item \(target.quoted) already, and it stays as it is",
                hint: "--replace replaces it"
            )
        }
    }
}
