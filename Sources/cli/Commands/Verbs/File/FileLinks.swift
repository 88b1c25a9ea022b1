internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport

struct LinkFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Give a file a further name, or make a symbolic link.",
        discussion: """
            All names of a file are equal: its content, its class and its attributes are those of each, and it stays until the \
            last name is removed. A symbolic link keeps any path; Coffer does not follow it, a mounted vault does.
            """
    )

    @Argument(help: "The file; of a symbolic link where it leads.", completion: .itemName)
    var old: String

    @Argument(help: "The further name.", completion: .itemName)
    var new: String

    @Flag(name: .shortAndLong, help: "Make a symbolic link.")
    var symbolic = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let target = try ItemName(argument: new)
        if symbolic {
            let params = FileSymlinkParameters(name: target, target: old, group: access.group)
            try connection.connect().call(params)
        } else {
            let name = try ItemName(argument: old)
            try connection.connect().call(FileLinkParameters(name: name, target: target, group: access.group))
        }
    }
}
