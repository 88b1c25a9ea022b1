internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Move: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Give an item another name, in whichever store it is.",
        discussion:
            "All else about it stays: content, dates, protection, kind and history. It works while locked, too.",
        aliases: ["mv"]
    )

    @Argument(help: "The name.", completion: .itemName)
    var old: String

    @Argument(help: "The name it is to have.", completion: .itemName)
    var new: String

    @Flag(help: "Replace an item that is there.")
    var replace = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let name = try ItemName(argument: old)
        let target = try ItemName(argument: new)
        let params = ItemMoveParameters(name: name, target: target, replaces: replace, group: access.group)
        let session = try authentication.connect()
        format.show(try session.call(params).value.json)
        session.client.warnIfNotLoadable(target, in: access.group)
    }
}
