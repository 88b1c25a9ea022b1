internal import ArgumentParser
internal import CofferClient

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show what is known of an item, without its content.")

    @Argument(help: "The name.")
    var name: String

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        format.show(try connection.connect().call(ItemShowParameters(name: try ItemName(argument: name))).value)
    }
}

extension ItemInfo: Printable {
    var text: [Line] {
        [Line](
            width: 13,
            [
                ("name", "\(name: name)"),
                ("store", "\(protection.store.rawValue)"),
                ("protection", "\(protection.name)"),
                ("size", "\(byteCount) bytes"),
                ("kind", kind.map { "\($0.rawValue)" }),
                ("created", "\(Timestamp.text(created))"),
                ("modified", "\(Timestamp.text(modified))"),
                ("expires", expiryDate.map { "\(Timestamp.text($0))\(isExpired ? " (it has expired)" : "")" }),
                ("readable", isReadable ? "now" : "after 'coffer unlock'"),
            ]
        )
    }
}
