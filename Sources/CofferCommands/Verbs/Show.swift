internal import ArgumentParser
internal import CofferClient

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what is known of an item, without its content."
    )

    @Argument(help: "The name.")
    var name: String

    @Flag(help: "List the fields of the secret, with their values masked.")
    var fields = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        if fields {
            let stored = try authentication.connect().secret(try ItemName(argument: name), in: access.group)
            return format.show(FieldList(fields: try stored.fields()))
        }
        let params = ItemShowParameters(name: try ItemName(argument: name), group: access.group)
        format.show(try authentication.connect().client.call(params).value)
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
