internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferWire

/// The verb `coffer show`, with its options.
struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show what is known of an item, without its content.")

    @Argument(help: "The name.")
    var name: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let item = try connection.connect().show(try ItemName(argument: name))
        let output = Output.standardOutput
        if format.json { return output.line(item.json) }
        output.line("name:        \(name: item.name)")
        output.line("store:       \(item.protection.store.rawValue)")
        output.line("protection:  \(item.protection.name)")
        output.line("size:        \(item.byteCount) bytes")
        if let kind = item.kind { output.line("kind:        \(kind.rawValue)") }
        output.line("created:     \(Timestamp.text(item.created))")
        output.line("modified:    \(Timestamp.text(item.modified))")
        output.line("readable:    \(item.isReadable ? "now" : "after 'coffer unlock'")")
    }
}
