internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal
internal import Glibc

extension ExportFormat: ExpressibleByArgument {}

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write items for another program.",
        discussion: """
            The file has every secret in plaintext, unless the format is age or pass, so a terminal asks before. A name \
            selects what is below it, too, and may be a pattern. More items than names want the passcode. What can't \
            leave this vault is named.
            """
    )

    @Argument(help: "The names, or patterns of names.", completion: .itemName)
    var names: [String] = []

    @Flag(help: "Export all items of the group.")
    var all = false

    @Option(help: "The format.")
    var format: ExportFormat

    @Option(
        help: ArgumentHelp("For whom to encrypt: a key of age or gpg; may be given several times.", valueName: "key")
    )
    var recipient: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to this file; '-' is standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var authentication: AuthenticationOptions

    func validate() throws {
        if all != names.isEmpty { throw ValidationError("name the items, or say --all") }
        if format.isEncrypted == recipient.isEmpty {
            throw ValidationError(
                format.isEncrypted ? "\(format.rawValue) needs --recipient" : "--recipient goes with age and pass"
            )
        }
        if format == .pass && output == "-" { throw ValidationError("pass needs a directory: --output DIRECTORY") }
    }

    func run() throws {
        let given = try authentication.readGiven()
        let target = ExportTarget(format: format, path: output, recipients: recipient)
        try target.check()
        let session = try authentication.connect(with: given)
        // Everything is read first, so that the numbers of the confirmation are those of the export.
        let confirmation = format.isEncrypted ? nil : try confirmation.prepare()
        let found = try ExportedItems(try selection(session), isWhole: format == .pass, session)
        guard !found.entries.isEmpty else { throw CofferError.nothing(found.left) }
        Output.warn(found.left.map { "\(quotedForDisplay($0.name)) is not exported: \($0.reason)" })
        if let confirmation { try confirm(found, confirmation) }
        try target.write(found.entries) { (entries) throws(CofferError) in
            try format.text(of: entries, at: Int64(time(nil)))
        }
        report(found)
        if found.left.contains(where: { $0.reason == ExportedItems.locked }) {
            throw ExitStatus(.interactionNotAllowed)
        }
    }

    /// The items of the group.
    ///
    /// - Parameter isForExport: Whether the daemon shall know what they are for: it wants the passcode, and records it.
    private func items(_ session: Session, isForExport: Bool) throws(CofferError) -> [ItemInfo] {
        var items: [ItemInfo] = []
        var sealedCount = 0
        try forEachPage { (after: String?) throws(CofferError) in
            let params = ItemListParameters(after: after, group: access.group, isForExport: isForExport)
            let page = try session.call(params).value
            items += page.items
            sealedCount += page.sealedCount
            return page.next
        }
        Output.warn(ofSealed: sealedCount)
        items.sortByName(\.name)
        return items
    }

    private func selection(_ session: Session) throws(CofferError) -> [ItemInfo] {
        let items = try items(session, isForExport: all)
        if all { return items }
        var selected: Set<Int> = []
        for name in names {
            let places = try places(of: name, in: items)
            guard !places.isEmpty else {
                throw CofferError(.itemNotFound, "nothing was exported: there is no item \(quotedForDisplay(name))")
            }
            selected.formUnion(places)
        }
        if selected.count > names.count { _ = try self.items(session, isForExport: true) }
        return selected.sorted().map { items[$0] }
    }

    /// The items that a name selects: itself and those below it, or those that fit it as a pattern.
    private func places(of name: String, in items: [ItemInfo]) throws(CofferError) -> [Int] {
        let own = items.indices.filter {
            items[$0].name.hasSameBytes(as: name) || items[$0].name.utf8.starts(with: "\(name)/".utf8)
        }
        guard own.isEmpty, name.contains("*") || name.contains("?") else { return own }
        let pattern = try NamePattern(name)
        return items.indices.filter { pattern.matches(items[$0].name) }
    }

    private func confirm(_ found: ExportedItems, _ confirmation: Confirmation) throws(CofferError) {
        let left: Line = found.left.isEmpty ? "" : ", and \(counted(found.left.count, "is", "are")) not exported"
        confirmation.say(
            "the secrets of \(counted(found.entries.count, "item", "items")) will be written in plaintext to \(quotedForDisplay(output))\(left)"
        )
        try confirmation.ask(for: "yes", orElse: "nothing was exported")
    }

    private func report(_ found: ExportedItems) {
        if format == .csv {
            let formulas = CSVWriter.formulas(in: found.entries).map(\.place)
            if !formulas.isEmpty {
                Output.warn([
                    "a value looks like a formula in \(formulas.joined(separator: ", ")): don't open the file in a spreadsheet"
                ])
            }
        }
        let words: Line = format.isEncrypted ? "" : ", in plaintext"
        Output.standardError.line(
            "exported \(counted(found.entries.count, "item", "items")) to \(quotedForDisplay(output))\(words)"
        )
    }
}

extension CofferError {
    fileprivate static func nothing(_ left: [(name: String, reason: String)]) -> CofferError {
        guard let first = left.first else { return CofferError(.itemNotFound, "there is no item to export") }
        let isLocked = left.contains { $0.reason == ExportedItems.locked }
        return CofferError(
            isLocked ? .interactionNotAllowed : .param,
            "nothing was exported: \(quotedForDisplay(first.name)): \(first.reason)",
            hint: isLocked ? "run 'coffer unlock' and repeat the command" : nil
        )
    }
}
