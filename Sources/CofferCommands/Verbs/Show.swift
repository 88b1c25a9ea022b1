internal import ArgumentParser
internal import CofferClient

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what is known of an item, without its content."
    )

    @Argument(help: "The name.")
    var name: String

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let params = ItemShowParameters(name: try ItemName(argument: name), group: access.group)
        format.show(try connection.connect().call(params).value)
    }
}

extension ItemInfo: Printable {
    var text: [Line] {
        [Line](
            width: 13,
            [
                ("name", "\(name: name)"),
                ("group", "\(group)"),
                ("store", "\(protection.store.rawValue)"),
                ("protection", "\(protection.name)"),
                ("size", "\(byteCount) bytes"),
                ("kind", kind.map { "\($0.rawValue)" }),
                ("created", "\(Timestamp.text(created))"),
                ("modified", "\(Timestamp.text(modified))"),
                ("expires", expiryDate.map { "\(Timestamp.text($0))\(isExpired ? " (it has expired)" : "")" }),
                ("readable", isLeftBehind ? .neverReadable : isReadable ? "now" : "after 'coffer unlock'"),
            ]
        )
    }
}

extension Line {
    /// When the secret of an item that was left behind can be read.
    fileprivate static var neverReadable: Line { "never: the device key that opens it is lost; remove it" }
}
