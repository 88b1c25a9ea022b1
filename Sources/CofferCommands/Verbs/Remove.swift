internal import ArgumentParser
internal import CofferClient

struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Remove items.")

    @Argument(help: "The names.")
    var names: [String]

    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let items = try names.map { try ItemName(argument: $0) }
        let given = try authentication.readGiven()
        let client = try connection.connect()
        try forEachGoingOn(items) { (item) throws(CofferError) in
            _ = try given.satisfy(client) { () throws(CofferError) in
                try client.call(ItemRemoveParameters(name: item)).value
            }
        }
    }
}
