internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

/// How many former values or contents are kept, on the command line.
struct KeepCount: ExpressibleByArgument {
    /// The number.
    let count: Int

    init?(argument: String) {
        guard let count = Int(argument), (0...Limits.historyValues).contains(count) else { return nil }
        self.count = count
    }
}

/// Which versions are removed.
enum RemovedVersions: ExpressibleByArgument {
    case all
    /// The place among those that there are: 1 is the newest.
    case one(UInt32)

    init?(argument: String) {
        if argument == "all" {
            self = .all
        } else if let place = UInt32(argument) {
            self = .one(place)
        } else {
            return nil
        }
    }
}

private func count(_ versions: Int) -> String { versions == 1 ? "1 version" : "\(versions) versions" }

struct FileVersionsVerb: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "versions",
        abstract: "List the former contents of a file, remove them, or say how many are kept.",
        discussion: """
            Prints the number, the date, the size and the class of each, the newest first: 1 is the content before the \
            present one. A directory says how many are kept of each file in it, unless the file says it itself.
            """
    )

    @Argument(help: "The name of a file, or of a directory.", completion: .itemName)
    var name: String

    @Option(help: ArgumentHelp("Keep this many from now on, and destroy the oldest beyond that.", valueName: "number"))
    var keep: KeepCount?

    @Flag(help: "Keep as many from now on as the directory above says.")
    var inherit = false

    @Option(help: ArgumentHelp("Destroy a version, or all of them.", valueName: "number|all"))
    var remove: RemovedVersions?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(["--keep": keep != nil], ["--inherit": inherit], ["--remove": remove != nil])
    }

    func run() throws {
        let file = try ItemName(argument: name)
        let client = try connection.connect()
        if let remove { return try show(removed: destroy(remove, of: file, client)) }
        guard keep == nil && !inherit else {
            let params = FileKeepVersionsParameters(name: file, keepCount: keep?.count, group: access.group)
            return try show(removed: client.call(params).value.count)
        }
        let found = try client.call(FileVersionsParameters(name: file, group: access.group)).value
        for (index, version) in found.versions.enumerated() {
            format.show(ListedVersion(version: version, ago: index + 1))
        }
        if found.versions.isEmpty {
            let json: JSONObject = ["keep": .integer(Int64(found.keepCount)), "inherited": .bool(found.isInherited)]
            format.show(json, "keeps \(count(found.keepCount))")
        }
        if found.damaged.isEmpty { return }
        throw CofferError(
            .decode,
            "\(count(found.damaged.count)) of \(file.quoted) can't be read: damaged or tampered with",
            hint: "'coffer file versions \(file.path) --remove all' destroys all versions"
        )
    }

    private func destroy(
        _ versions: RemovedVersions,
        of file: ItemName,
        _ client: BlockingClient
    ) throws(CofferError) -> Int64 {
        var number: Int64?
        switch versions {
        case .one(let ago): number = try client.version(ago: ago, of: file, in: access.group)
        case .all where !confirmation.yes:
            let confirmation = try confirmation.prepare()
            confirmation.say("all versions of \(name: file.path) will be destroyed")
            try confirmation.ask(for: "yes", orElse: "nothing was destroyed")
        case .all: break
        }
        let params = FileRemoveVersionsParameters(name: file, number: number, group: access.group)
        return try client.call(params).value.count
    }

    private func show(removed: Int64) {
        format.show(["count": .integer(removed)], "destroyed \(count(Int(removed)))")
    }
}

/// A former content in a list.
private struct ListedVersion: Printable {
    let version: FileVersionInfo
    let ago: Int

    var json: JSONObject {
        var json = version.json
        json.set("ago", .integer(Int64(ago)))
        return json
    }

    var text: [Line] {
        let size = ByteCount.text(version.byteCount)
        let state = version.isReadable ? "" : "  locked"
        return ["\(ago)  \(Timestamp.text(version.replaced))  \(size)  \(version.protectionClass.rawValue)\(state)"]
    }
}

extension BlockingClient {
    /// The number in the vault of a former content.
    ///
    /// - Parameter ago: Its place among those of the file: 1 is the newest.
    /// - Throws: `itemNotFound` if the file has fewer.
    func version(ago: UInt32, of name: ItemName, in group: String?) throws(CofferError) -> Int64 {
        let found = try call(FileVersionsParameters(name: name, group: group)).value.versions
        guard ago > 0, ago <= found.count else {
            throw CofferError(
                .itemNotFound,
                "\(name.quoted) has \(count(found.count)), and none with the number \(ago)",
                hint: "'coffer file versions \(name.path)' lists them"
            )
        }
        return found[Int(ago) - 1].number
    }
}

struct RestoreFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a former content of a file its content again. The present content becomes a former one.",
        discussion: "For a secret, see 'coffer restore'; for a removed item, 'coffer trash restore'."
    )

    @Argument(help: "The name.", completion: .itemName)
    var name: String

    @Option(help: ArgumentHelp("The version, as 'coffer file versions' numbers it.", valueName: "number"))
    var version: UInt32 = 1

    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions

    func run() throws {
        let file = try ItemName(argument: name)
        let client = try connection.connect()
        let number = try client.version(ago: version, of: file, in: access.group)
        try client.call(FileRestoreParameters(name: file, number: number, group: access.group))
    }
}
