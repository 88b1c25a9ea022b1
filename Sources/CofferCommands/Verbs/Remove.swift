internal import ArgumentParser
internal import CofferClient

struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove items.")

    @Argument(help: "The names.")
    var names: [String]

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions

    func run() throws {
        let items = try names.map { try ItemName(argument: $0) }
        let session = try authentication.connect()
        try forEachGoingOn(items) { (item) throws(CofferError) in
            _ = try session.call(ItemRemoveParameters(name: item, group: access.group))
        }
    }
}
