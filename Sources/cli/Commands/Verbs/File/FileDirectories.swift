internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct ListFiles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a directory, sorted by name.",
        discussion: "A directory is shown with a slash behind its name. Names and sizes are known while locked, too."
    )

    @Argument(help: "The directory (default: the topmost one).", completion: .itemName)
    var name: String?

    @Flag(name: .shortAndLong, help: "Show class, size, date and whether it can be read now.")
    var long = false

    @Flag(name: .shortAndLong, help: "List what is in its directories as well.")
    var recursive = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let directory = try name.map { try ItemName(argument: $0) }
        let client = try connection.connect()
        var entries: [FileInfo] = []
        var damagedCount = 0
        var sealedCount = 0
        try forEachPage { (cursor: String?) throws(CofferError) in
            let page = try client.call(
                FileListParameters(name: directory, isRecursive: recursive, cursor: cursor, group: access.group)
            ).value
            entries += page.entries
            damagedCount += page.damagedCount
            sealedCount += page.sealedCount
            return page.cursor
        }
        entries.sortByName(\.name)
        for entry in entries { format.show(ListedFile(entry: entry, isLong: long)) }
        Output.warn(ofSealed: sealedCount)
        if damagedCount > 0 {
            throw CofferError(
                .decode,
                counted(
                    damagedCount,
                    "entry is damaged or was tampered with, and has",
                    "entries are damaged or were tampered with, and have"
                )
                    + " no name to list",
                hint: "'coffer doctor' says more; 'coffer file remove --recursive' removes a directory with them"
            )
        }
    }
}

/// An entry of a listing.
private struct ListedFile: Printable {
    let entry: FileInfo
    let isLong: Bool

    var json: JSONObject { entry.json }

    var text: [Line] {
        ["\(isLong ? columns + "  " : "")\(name: entry.name)\(entry.isDirectory ? "/" : "")\(destination)"]
    }

    private var destination: Line { entry.target.map { " -> \(name: $0)" } ?? "" }

    private var columns: String {
        let size = entry.childCount.map { $0 == 1 ? "1 entry" : "\($0) entries" } ?? ByteCount.text(entry.byteCount)
        return [
            entry.isReadable ? "readable" : "locked  ",
            (entry.protectionClass?.words ?? "-").padded(to: 36),
            size.padded(to: 10),
            Timestamp.text(entry.modified),
        ].joined(separator: "  ")
    }
}

struct ShowFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat",
        abstract: "Show what is known of a file or a directory, without its content."
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let params = FileStatParameters(name: try ItemName(argument: name), group: access.group)
        format.show(try connection.connect().call(params).value)
    }
}

extension FileInfo: Printable {
    var text: [Line] {
        [Line](
            width: 13,
            [
                ("name", "\(name: name)"),
                ("is", "\(type.words)"),
                ("leads to", target.map { "\(name: $0)" }),
                ("readable", protectionClass.map { "\($0.words)\(isDirectory ? ", for new files" : "")" }),
                ("entries", childCount.map { "\($0)" }),
                ("size", isDirectory ? nil : "\(countedBytes(byteCount))"),
                ("mode", "\(permissions)"),
                ("owner", owner.map { "\($0)" }),
                ("inode", "\(inode)"),
                ("names", linkCount == 1 ? nil : "\(linkCount)"),
                ("kind", kind.map { "\($0.rawValue)" }),
                ("created", "\(Timestamp.text(created))"),
                ("modified", "\(Timestamp.text(modified))"),
                ("changed", "\(Timestamp.text(changedNanoseconds / 1_000_000))"),
                ("readable", type != .file ? nil : isReadable ? "now" : "after 'coffer unlock'"),
                ("writing", !isDirectory && isOpenForWriting ? "another client has it open" : nil),
            ]
        )
    }
}

extension FileInfo {
    /// The mode as `chmod` takes it.
    private var permissions: String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// The numbers of the owner and of the owner's group, if one of them was stated.
    private var owner: String? {
        if uid == nil && gid == nil { return nil }
        return [uid, gid].map { $0.map(String.init) ?? "-" }.joined(separator: ":")
    }
}

extension FileType {
    /// What it is, in words.
    fileprivate var words: String {
        switch self {
        case .file: "a file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        }
    }
}

struct MakeDirectory: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mkdir",
        abstract: "Make a directory, which stays when nothing is in it."
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(name: .customLong("class"), help: "The protection class of new files in it.")
    var protectionClass: ProtectionClass?

    @Option(help: ArgumentHelp("Keep this many versions of each file in it.", valueName: "number"))
    var keep: KeepCount?

    @Flag(name: .shortAndLong, help: "Make the directories above it as well; it is no error if it exists.")
    var parents = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let directory = try ItemName(argument: name)
        let params = FileMkdirParameters(
            name: directory,
            protectionClass: protectionClass,
            makesParents: parents,
            keepCount: keep?.count,
            group: access.group
        )
        try connection.connect().call(params)
    }
}

struct MoveFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Give a file, or a directory with all that is in it, another name."
    )

    @Argument(help: "The name.", completion: .itemName)
    var old: String

    @Argument(help: "The name it is to have.", completion: .itemName)
    var new: String

    @Flag(help: "Replace a file that is there, or an empty directory by a directory.")
    var replace = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let name = try ItemName(argument: old)
        let target = try ItemName(argument: new)
        let params = FileRenameParameters(name: name, target: target, replaces: replace, group: access.group)
        try connection.connect().call(params)
    }
}

struct RemoveFiles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove files and directories."
    )

    @Argument(help: "The names.", completion: .itemName)
    var names: [String]

    @Flag(name: .shortAndLong, help: "Remove directories with all that is in them.")
    var recursive = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let files = try names.map { try ItemName(argument: $0) }
        let client = try connection.connect()
        try forEachGoingOn(files) { (file) throws(CofferError) in
            try client.call(FileRemoveParameters(name: file, isRecursive: recursive, group: access.group))
        }
    }
}

struct ProtectFiles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Change the protection class of a file, or of what is in a directory; contents stay as they are."
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Argument(help: ArgumentHelp("The protection class.", valueName: "class"))
    var protectionClass: ProtectionClass

    @Flag(name: .shortAndLong, help: "Change all files that are in a directory, and new ones.")
    var recursive = false

    @Flag(name: .customLong("default"), help: "Change the class of new files in a directory only.")
    var isDefault = false

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let scope = try FileProtectionScope(isRecursive: recursive, isDefault: isDefault)
        try changeClass(of: name, to: protectionClass, scope, in: access.group, try connection.connect(), format)
    }
}

extension FileProtectionScope {
    /// The scope that two flags name.
    init(isRecursive: Bool, isDefault: Bool) throws(CofferError) {
        if isRecursive && isDefault {
            throw CofferError(
                .param,
                "--recursive and --default were both given",
                hint: "--default changes what new files get, --recursive that and the files that are there"
            )
        }
        self = isRecursive ? .everything : isDefault ? .newFiles : .file
    }
}

extension ParsableCommand {
    /// Changes the class of a file or a directory, and prints how many entries have changed.
    ///
    /// - Parameter name: The name; `/` for the root, which has a class of new files.
    func changeClass(
        of name: String,
        to protectionClass: ProtectionClass,
        _ scope: FileProtectionScope,
        in group: String?,
        _ client: BlockingClient,
        _ format: FormatOptions
    ) throws {
        let isRoot = scope == .newFiles && name == "/"
        let file = isRoot ? nil : try ItemName(argument: name)
        let change = try client.call(FileProtectParameters(file, protectionClass, scope, in: group)).value
        for entry in change.unchanged {
            Output.standardError.line("unchanged: \(quotedForDisplay(entry.name)): \(entry.message)")
        }
        let unnamedCount = change.unchangedCount - change.unchanged.count
        if unnamedCount > 0 { Output.standardError.line("unchanged: \(unnamedCount) more") }
        let words = change.changedCount == 1 ? "1 entry" : "\(change.changedCount) entries"
        format.show(change.json, "changed \(words): readable \(protectionClass.words)")
        if let first = change.unchanged.first { throw ExitStatus(first.code) }
    }
}
