internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct CreateFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a file, with content or empty.",
        discussion: """
            The content comes from FILE, or from standard input; on a terminal the file is empty. A file that exists gets the \
            content in place of its own, and keeps its class.
            """
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Argument(help: ArgumentHelp("The file with the content.", valueName: "file"), completion: .file())
    var file: String?

    @Option(name: .customLong("class"), help: "The protection class (default: that of the directory).")
    var protectionClass: ProtectionClass?

    @Flag(help: "Refuse a file that exists.")
    var exclusive = false

    @OptionGroup var writing: WritingOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let content = try FileContent(of: file, prompt: nil)
        let options: FileOpenOptions = exclusive ? [.create, .exclusive] : [.create, .truncate]
        let opened = try writing.open(itemName, options, protectionClass)
        try content.write(to: opened, at: 0)
        writing.warnIfNotLoadable(itemName, opened)
        if let protectionClass, protectionClass != opened.protectionClass {
            Output.standardError.line(
                "warning: \(itemName.quoted) existed, and can be read \(opened.protectionClass.words) as before: "
                    + "'coffer file protect' changes its class"
            )
        }
    }
}

struct WriteFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write into a file.",
        discussion: "What comes from FILE, or from standard input, replaces as many bytes; the others stay."
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Argument(help: ArgumentHelp("The file with what is written.", valueName: "file"), completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("Where to begin, in bytes (default: at the beginning).", valueName: "bytes"))
    var offset: ByteArgument?

    @Flag(help: "Empty the file first.")
    var truncate = false

    @Flag(help: "Make a file that does not exist.")
    var create = false

    @OptionGroup var writing: WritingOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let content = try FileContent(of: file, prompt: "Content of \(itemName.quoted): ")
        var options: FileOpenOptions = []
        if truncate { options.insert(.truncate) }
        if create { options.insert(.create) }
        let opened = try writing.open(itemName, options)
        try content.write(to: opened, at: offset?.count ?? 0)
        writing.warnIfNotLoadable(itemName, opened)
    }
}

struct AppendToFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "append",
        abstract: "Write behind the end of a file.",
        discussion: "What is written comes from FILE, or from standard input."
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Argument(help: ArgumentHelp("The file with what is written.", valueName: "file"), completion: .file())
    var file: String?

    @OptionGroup var writing: WritingOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let content = try FileContent(of: file, prompt: "Content for \(itemName.quoted): ")
        let opened = try writing.open(itemName, .append)
        try content.write(to: opened, at: nil)
        writing.warnIfNotLoadable(itemName, opened)
    }
}

struct TruncateFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "truncate",
        abstract: "Shorten a file, or lengthen it with zeros, which take no space."
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Argument(help: ArgumentHelp("The new size, in bytes.", valueName: "bytes"))
    var size: ByteArgument

    @OptionGroup var writing: WritingOptions

    func run() throws {
        let itemName = try ItemName(argument: name)
        let opened = try writing.open(itemName)
        try opened.truncate(to: size.count)
        try opened.close()
        writing.warnIfNotLoadable(itemName, opened)
    }
}

/// The common options of the verbs that write.
struct WritingOptions: ParsableArguments {
    @Flag(help: "Wait while another client writes the file.")
    var wait = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    /// Warns if the file is a unit's, and can't be loaded by it now.
    func warnIfNotLoadable(_ name: ItemName, _ opened: OpenedFile) {
        opened.client.warnIfNotLoadable(name, in: access.group)
    }

    /// Connects and opens a file.
    func open(
        _ name: ItemName,
        _ options: FileOpenOptions = [],
        _ protectionClass: ProtectionClass? = nil
    ) throws(CofferError) -> OpenedFile {
        let options = wait ? options.union(.wait) : options
        let client = try connection.connect()
        return try client.openFile(name, in: access.group, for: .write, options, protectionClass: protectionClass)
    }
}
