internal import ArgumentParser
internal import CofferClient
internal import CofferCore

/// The verb `coffer remove`, with its options.
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
        var firstFailure: CofferError?
        for item in items {
            do throws(CofferError) {
                try given.satisfy(client) { () throws(CofferError) in try client.remove(item) }
            } catch {
                // The others are removed all the same, as rm does it.
                Output.standardError.write(error)
                firstFailure = firstFailure ?? error
            }
        }
        if let firstFailure { throw ExitStatus(firstFailure.code) }
    }
}
