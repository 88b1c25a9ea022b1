internal import ArgumentParser
internal import CofferClient
internal import CofferSecretFormats
internal import CofferCommandSupport
internal import CofferTerminal

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check the vault for damage, and repair it.",
        discussion: """
            Checks every row of the catalog, and every secret and every content of a file whose key is available now. \
            Without an option nothing is changed. With --salvage it reads one file instead, and saves what can be read of it.
            """
    )

    @Flag(help: "Repair: damaged rows go into quarantine, whole and as they are, and their names are free again.")
    var `repair` = false

    @Flag(help: "Leave out the contents of files.")
    var quick = false

    @Flag(help: "Put back from quarantine what is whole now.")
    var restore = false

    @Flag(help: "Destroy what is in quarantine.")
    var discard = false

    @Flag(help: "End the faults of the whole vault that have passed, and remove what is kept of them.")
    var acknowledge = false

    @Option(
        help: ArgumentHelp(
            "Save what can be read of this file, with zeros in the place of the rest.",
            valueName: "name"
        )
    )
    var salvage: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Where to save it: a file that must not exist yet.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var access: GroupOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        try exclude(
            ["--restore": restore],
            ["--discard": discard],
            ["--acknowledge": acknowledge],
            ["--salvage": salvage != nil],
            ["--repair": `repair`, "--quick": quick]
        )
        try require("--salvage", salvage != nil, for: ["--group": access.group != nil])
        if (salvage == nil) != (output == nil) { throw ValidationError("--salvage NAME and --output FILE go together") }
        try require("--discard or --acknowledge", discard || acknowledge, for: ["--yes": confirmation.yes])
    }

    func run() throws {
        if discard { return try discardAll() }
        if acknowledge { return try acknowledgeFaults() }
        if let salvage, let output { return try save(try ItemName(argument: salvage), to: output) }
        let client = try connection.connect()
        if restore { return try restoreAll(client) }
        try check(client)
    }

    // MARK: Checking

    private func check(_ client: BlockingClient) throws {
        let former = try client.status().faults
        var bar = ProgressBar()
        var survey = Survey(repairs: `repair`, isQuick: quick)
        try forEachPage { (cursor: String?) throws(CofferError) in
            let page = try client.call(
                VaultCheckParameters(repairs: `repair`, isQuick: quick, wantsProgress: true, cursor: cursor),
                progress: { [bar, survey] in bar?.update(survey.contentBytes + $0.done, of: survey.contentTotal) }
            ).value
            survey.add(page)
            if !page.findings.isEmpty { bar?.finish() }
            for finding in page.findings { format.show(finding) }
            switch page.stage {
            case .contents: bar?.update(survey.contentBytes, of: survey.contentTotal)
            case .counts:
                bar?.finish()
                // Its rate is that of contents from here on.
                bar = ProgressBar()
            default: bar?.show { _ in ["checked \(counted(survey.checkedCount, "row", "rows"))"] }
            }
            return page.cursor
        }
        bar?.finish()
        // The check may have found faults, and the repair may have ended some.
        let faults = try client.status().faults
        for fault in faults { format.show(fault) }
        for fault in former where !faults.contains(fault) {
            format.say("fault: \(fault.what)")
            format.say("this fault has ended with the check")
        }
        survey.faultCount = faults.count
        survey.waiting = try allEntries(client)
        format.show(survey)
        if survey.unrepairedCount > 0 || !faults.isEmpty { throw ExitStatus.damaged }
    }

    /// Lists or restores all entries of the quarantine.
    private func allEntries(
        _ client: BlockingClient,
        _ action: QuarantineAction = .list
    ) throws(CofferError) -> [QuarantineEntry] {
        var entries: [QuarantineEntry] = []
        try forEachPage { (cursor: String?) throws(CofferError) in
            let page = try client.call(VaultQuarantineParameters(action, cursor: cursor)).value
            entries += page.entries
            return page.cursor
        }
        return entries
    }

    // MARK: Quarantine

    private func restoreAll(_ client: BlockingClient) throws(CofferError) {
        let entries = try allEntries(client, .restore)
        for entry in entries { format.show(entry) }
        format.say("put back \(entries.count { $0.obstacle == nil }) of \(entries.count) in quarantine")
    }

    private func discardAll() throws(CofferError) {
        let question = try confirmation.prepare()
        let client = try connection.connect()
        let entries = try allEntries(client)
        if entries.isEmpty { return format.say("nothing is in quarantine") }
        question.say("\(entries.count) damaged rows in quarantine are destroyed, and nothing brings them back:")
        for entry in entries {
            question.say("  \(entry.title): \(entry.obstacle ?? "whole now: --restore puts it back")")
        }
        try question.ask(for: "discard", orElse: "nothing was destroyed")
        for entry in entries {
            try client.call(VaultQuarantineParameters(.discard, store: entry.store, number: entry.number))
            format.show(entry.json)
        }
        format.say("destroyed \(entries.count)")
    }

    // MARK: Faults

    private func acknowledgeFaults() throws(CofferError) {
        let question = try confirmation.prepare()
        let client = try connection.connect()
        let faults = try client.status().faults
        if faults.isEmpty { return format.say("there is no fault") }
        question.say("what is kept of faults that have passed is removed:")
        for fault in faults { question.say("  \(fault.what)") }
        try question.ask(for: "acknowledge", orElse: "nothing was changed")
        try client.call(VaultQuarantineParameters(.acknowledge))
        let remaining = try client.status().faults
        for fault in remaining { format.show(fault) }
        format.say("acknowledged \(faults.count - remaining.count) of \(counted(faults.count, "fault", "faults"))")
    }

    // MARK: Salvaging

    private func save(_ name: ItemName, to path: String) throws {
        let client = try connection.connect()
        let file = try OutputFile(new: path)
        let bar = ProgressBar()
        let salvage = try client.call(
            FileSalvageParameters(name: name, wantsProgress: bar != nil, group: access.group),
            passing: file.number,
            progress: bar.map { bar in { bar.update($0.done, of: $0.total) } }
        ).value
        bar?.finish()
        try file.finish()
        format.show(SalvageReport(salvage: salvage, name: name, path: path))
        if salvage.damagedByteCount > 0 || salvage.mayBeOlder { throw ExitStatus.damaged }
    }
}

/// The saved and the lost parts of a file.
private struct SalvageReport: Printable {
    let salvage: Salvage
    let name: ItemName
    let path: String

    var json: JSONObject {
        var object = salvage.json
        object.set("name", .string(name.path))
        return object
    }

    var text: [Line] {
        let quoted = name.quoted
        var lines: [Line] = salvage.damaged.map { part in
            let last = part.offset + part.byteCount - 1
            return "\(quoted): bytes \(part.offset) to \(last) can't be read: zeros stand for them"
        }
        let unnamed = salvage.damagedByteCount - salvage.damaged.reduce(0) { $0 + $1.byteCount }
        if unnamed > 0 { lines.append("and \(unnamed) bytes more, in other parts") }
        if salvage.mayBeOlder {
            lines.append(
                "\(quoted): the catalog's list of what was rewritten is damaged: parts may be earlier versions of themselves"
            )
        }
        let good = salvage.byteCount - salvage.damagedByteCount
        return lines + ["saved \(good) of \(countedBytes(salvage.byteCount)) of \(quoted) in \(quotedForDisplay(path))"]
    }
}

/// The number of checked rows, and the findings.
private struct Survey: Printable {
    let repairs: Bool
    let isQuick: Bool
    private var checked: [CheckStage: Int] = [:]
    private var sealed: [CheckStage: Int] = [:]
    private var quarantinedCount = 0
    private var repairedCount = 0
    private var unrepaired: [Repair: Int] = [:]
    /// The bytes of contents that were checked, and those that there are to check.
    private(set) var contentBytes: Int64 = 0
    private(set) var contentTotal: Int64 = 0
    /// The entries of the quarantine.
    var waiting: [QuarantineEntry] = []
    var faultCount = 0

    init(repairs: Bool, isQuick: Bool) { (self.repairs, self.isQuick) = (repairs, isQuick) }

    var checkedCount: Int { checked.values.reduce(0, +) }
    var unrepairedCount: Int { unrepaired.values.reduce(0, +) }
    private var sealedCount: Int { sealed.values.reduce(0, +) }
    private var sealedContentCount: Int { sealed[.contents] ?? 0 }

    mutating func add(_ page: CheckPage) {
        checked[page.stage, default: 0] += page.checkedCount
        sealed[page.stage, default: 0] += page.sealedCount
        quarantinedCount += page.quarantinedCount
        repairedCount += page.findings.count { $0.isRepaired }
        for finding in page.findings where !finding.isRepaired { unrepaired[finding.repair, default: 0] += 1 }
        switch page.stage {
        case .files: contentTotal += page.byteCount
        case .contents: contentBytes += page.byteCount
        default: break
        }
    }

    var json: JSONObject {
        var stages = JSONObject()
        for stage in CheckStage.allCases where !(isQuick && stage == .contents) {
            stages.set(stage.rawValue, .integer(Int64(checked[stage] ?? 0)))
        }
        return [
            "checked": .object(stages), "quick": .bool(isQuick), "sealed": .integer(Int64(sealedCount)),
            "sealedContents": .integer(Int64(sealedContentCount)), "contentBytes": .integer(contentBytes),
            "damaged": .integer(Int64(unrepairedCount)), "repaired": .integer(Int64(repairedCount)),
            "inQuarantine": .integer(Int64(waiting.count)), "faults": .integer(Int64(faultCount)),
        ]
    }

    var text: [Line] {
        let stages = CheckStage.allCases.filter { $0 != .counts && !($0 == .contents && isQuick) }
        let counts = stages.map { "\($0.nouns.several) (\(checked[$0] ?? 0))" }.joined(separator: ", ")
        var lines: [Line] = ["checked \(counts) and the counts"]
        if isQuick { lines.append("the contents of files were not checked: 'coffer doctor' without --quick does that") }
        let secretCount = sealedCount - sealedContentCount
        if secretCount > 0 {
            lines.append(
                "not checked: whether \(counted(secretCount, "secret opens, which is", "secrets open, which are")) locked ('coffer unlock', and repeat it), or require authentication"
            )
        }
        if sealedContentCount > 0 {
            lines.append(
                "not checked: the contents of \(counted(sealedContentCount, "file, which is", "files, which are")) locked; 'coffer unlock', and repeat it"
            )
        }
        if repairs && repairedCount > 0 {
            lines.append("repaired \(repairedCount); \(counted(quarantinedCount, "row", "rows")) went into quarantine")
        }
        if !waiting.isEmpty {
            let good = waiting.count { $0.obstacle == nil }
            let words = good > 0 ? "; \(good) of them can be put back by --restore" : ""
            lines.append("in quarantine: \(waiting.count)\(words)")
        }
        return lines + outcome
    }

    /// What is left to do.
    private var outcome: [Line] {
        var lines: [Line] = []
        let (fileCount, lostCount) = (unrepaired[.salvage] ?? 0, unrepaired[.copy] ?? 0)
        let movableCount = unrepairedCount - fileCount - lostCount
        if movableCount > 0 {
            lines.append(
                repairs
                    ? "\(movableCount) are damaged still: their files are open; close them, and repeat it"
                    : "found \(movableCount) damaged; 'coffer doctor --repair' puts them out of the way, nothing is thrown away"
            )
        }
        if lostCount > 0 { lines.append("found \(lostCount) damaged that can't be repaired") }
        if fileCount > 0 {
            lines.append(
                "found \(counted(fileCount, "file", "files")) with damaged contents, which --repair leaves as they are"
            )
        }
        if !lines.isEmpty { return lines }
        if repairedCount > 0 { return ["all that is left is well"] }
        if faultCount > 0 { return [] }
        return [isQuick || sealedCount > 0 ? "all that was checked is well" : "all is well"]
    }
}

extension CheckStage {
    /// The nouns of a stage, for one row and for several.
    fileprivate var nouns: (one: String, several: String) {
        switch self {
        case .database: ("the database's", "parts of the database")
        case .keychainItems: ("keychain item", "keychain items")
        case .keychainTags: ("entry of the search", "entries of the search")
        case .past: ("former value or entry of the trash", "former values and entries of the trash")
        case .files: ("file or directory", "files and directories")
        case .counts: ("the count of", "counts")
        case .contents: ("file", "contents of files")
        }
    }
}

/// The title of a checked row, with as much of its name as is known.
private func title(_ stage: CheckStage, _ name: String?, _ reference: ItemID?) -> String {
    [stage.nouns.one, name, reference?.hexadecimal].compactMap { $0 }.joined(separator: " ")
}

extension Finding: Printable {
    /// The finding, its reason and a hint, and the damaged parts of a content.
    var text: [Line] {
        let words: String
        switch (repair, isRepaired) {
        case (.quarantine, false): words = "--repair moves it into quarantine"
        case (.quarantine, true): words = "moved into quarantine"
        case (.rewrite, false): words = "--repair writes it anew"
        case (.rewrite, true): words = "written anew"
        case (.copy, _) where stage == .past: words = "it can only be removed; nothing else is affected"
        case (.copy, _): words = "copy what can be read out of the vault; 'coffer erase' then makes room for a new one"
        case (.salvage, _):
            words =
                "save what can be read by coffer doctor --salvage \(name ?? "NAME") --output FILE, "
                + "then store it again, or remove it"
        case (.directory, false): words = "--repair makes a directory for it"
        case (.directory, true): words = "a directory 'recovered-…' was made for it"
        }
        var lines: [Line] = ["\(title(stage, name, reference)): \(damage.words); \(words)"]
        lines += damaged.map { "    bytes \($0.offset) to \($0.offset + $0.byteCount - 1) can't be read" }
        let unnamed = damagedByteCount - damaged.reduce(0) { $0 + $1.byteCount }
        if unnamed > 0 { lines.append("    and \(unnamed) bytes more, in other parts") }
        return lines
    }
}

extension QuarantineEntry: Printable {
    /// The result of restoring an entry.
    var text: [Line] { [obstacle.map { "stays: \(title): \($0)" } ?? "put back: \(title)"] }

    fileprivate var title: String { CofferVaultCommands.title(stage, name, reference) }
}
