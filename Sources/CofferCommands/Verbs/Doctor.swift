internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferSystem
internal import CofferWire

/// The verb `coffer doctor`, with its options.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look for damage in the vault, and put it out of the way.",
        discussion: """
            Looks at every row of the catalog, and at every secret whose key is there now; the contents of files are not read. \
            Without an option nothing is changed. With --salvage it reads one file instead, and saves what can be read of it.
            """
    )

    @Flag(help: "Repair: damaged rows go into quarantine, whole and as they are, and their names are free again.")
    var `repair` = false

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
        help: ArgumentHelp("Where to save it: a file that must not exist yet.", valueName: "file")
    )
    var output: String?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if [`repair`, restore, discard, acknowledge, salvage != nil].filter({ $0 }).count > 1 {
            throw ValidationError("give one of --repair, --restore, --discard, --acknowledge and --salvage")
        }
        if (salvage == nil) != (output == nil) { throw ValidationError("--salvage NAME and --output FILE go together") }
        if confirmation.yes && !discard && !acknowledge {
            throw ValidationError("--yes is for --discard and --acknowledge")
        }
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
        let output = Output.standardOutput
        let former = try client.status().faults
        let progress = CheckProgress()
        var survey = Survey()
        var cursor: String?
        repeat {
            let page = try client.call(VaultCheckParameters(repairs: `repair`, cursor: cursor)).value
            survey.add(page)
            if !page.findings.isEmpty { progress?.finish() }
            for finding in page.findings { format.json ? output.line(finding.json) : output.line("\(finding.line)") }
            progress?.update(survey.checkedCount)
            cursor = page.cursor
        } while cursor != nil
        progress?.finish()
        // The check may have met one, and the repair may have ended one.
        let faults = try client.status().faults
        for fault in faults { format.json ? output.line(fault.json) : fault.write(to: output) }
        for fault in former where !format.json && !faults.contains(fault) {
            output.line("fault: \(fault.what)")
            output.line("this fault has ended with the check")
        }
        let waiting = try allEntries(client)
        if format.json {
            output.line(survey.json(quarantined: waiting.count, faults: faults.count))
        } else {
            let lines = survey.lines(of: waiting, repairs: `repair`)
            for line in faults.isEmpty ? lines : lines.filter({ $0 != Survey.isWell }) { output.line("\(line)") }
        }
        if survey.unrepairedCount > 0 || !faults.isEmpty { throw ExitStatus.damaged }
    }

    private func allEntries(_ client: BlockingClient) throws(CofferError) -> [QuarantineEntry] {
        var entries: [QuarantineEntry] = []
        var cursor: String?
        repeat {
            let page = try client.call(VaultQuarantineParameters(.list, cursor: cursor)).value
            entries += page.entries
            cursor = page.cursor
        } while cursor != nil
        return entries
    }

    // MARK: Quarantine

    private func restoreAll(_ client: BlockingClient) throws(CofferError) {
        let output = Output.standardOutput
        var restoredCount = 0
        var entries: [QuarantineEntry] = []
        var cursor: String?
        repeat {
            let page = try client.call(VaultQuarantineParameters(.restore, cursor: cursor)).value
            entries += page.entries
            cursor = page.cursor
        } while cursor != nil
        for entry in entries {
            if entry.obstacle == nil { restoredCount += 1 }
            if format.json {
                output.line(entry.json)
            } else if let obstacle = entry.obstacle {
                output.line("stays: \(entry.title): \(obstacle)")
            } else {
                output.line("put back: \(entry.title)")
            }
        }
        if !format.json { output.line("put back \(restoredCount) of \(entries.count) in quarantine") }
    }

    private func discardAll() throws(CofferError) {
        let question = try confirmation.prepare()
        let client = try connection.connect()
        let entries = try allEntries(client)
        if entries.isEmpty {
            if !format.json { Output.standardOutput.line("nothing is in quarantine") }
            return
        }
        question.say("\(entries.count) damaged rows in quarantine are destroyed, and nothing brings them back:")
        for entry in entries {
            question.say("  \(entry.title): \(entry.obstacle ?? "whole now: --restore puts it back")")
        }
        try question.ask(for: "discard", orElse: "nothing was destroyed")
        for entry in entries {
            try client.call(VaultQuarantineParameters(.discard, store: entry.store, number: entry.number))
            if format.json { Output.standardOutput.line(entry.json) }
        }
        if !format.json { Output.standardOutput.line("destroyed \(entries.count)") }
    }

    // MARK: Faults

    private func acknowledgeFaults() throws(CofferError) {
        let question = try confirmation.prepare()
        let client = try connection.connect()
        let faults = try client.status().faults
        if faults.isEmpty {
            if !format.json { Output.standardOutput.line("there is no fault") }
            return
        }
        question.say("what is kept of faults that have passed is removed:")
        for fault in faults { question.say("  \(fault.what)") }
        try question.ask(for: "acknowledge", orElse: "nothing was changed")
        try client.call(VaultQuarantineParameters(.acknowledge))
        let remaining = try client.status().faults
        for fault in remaining {
            format.json ? Output.standardOutput.line(fault.json) : fault.write(to: .standardOutput)
        }
        if !format.json {
            Output.standardOutput.line("acknowledged \(faults.count - remaining.count) of \(faults.count) faults")
        }
    }

    // MARK: Salvaging

    private func save(_ name: ItemName, to path: String) throws {
        let client = try connection.connect()
        let file = try OutputFile(new: path)
        let bar = ProgressBar()
        let salvage = try client.call(
            FileSalvageParameters(name: name, wantsProgress: bar != nil),
            passing: file.number,
            progress: bar.map { bar in { bar.update($0, of: $1) } }
        ).value
        bar?.finish()
        try file.finish()
        let output = Output.standardOutput
        if format.json {
            var object = salvage.json
            object.set("name", .string(name.path))
            output.line(object)
        } else {
            for line in salvage.lines(name, path) { output.line("\(line)") }
        }
        if salvage.damagedByteCount > 0 || salvage.mayBeOlder { throw ExitStatus.damaged }
    }
}

extension Salvage {
    /// What was saved, and what was not.
    fileprivate func lines(_ name: ItemName, _ path: String) -> [String] {
        var lines = damaged.map { part in
            "\(name.quoted): bytes \(part.offset) to \(part.offset + part.byteCount - 1) can't be read: zeros stand for them"
        }
        let told = damaged.reduce(0) { $0 + $1.byteCount }
        if told < damagedByteCount { lines.append("and \(damagedByteCount - told) bytes more, in other parts") }
        if mayBeOlder {
            lines.append(
                "\(name.quoted): the catalog's list of what was rewritten is damaged: parts may be earlier versions of themselves"
            )
        }
        let good = byteCount - damagedByteCount
        lines.append("saved \(good) of \(byteCount) bytes of \(name.quoted) in \(quotedForDisplay(path))")
        return lines
    }
}

/// What a check has looked at, and what has come of it.
private struct Survey {
    private var checked: [CheckStage: Int] = [:]
    private var sealedCount = 0
    private var quarantinedCount = 0
    private var repairedCount = 0
    private(set) var unrepairedCount = 0

    var checkedCount: Int { checked.values.reduce(0, +) }

    mutating func add(_ page: CheckPage) {
        checked[page.stage, default: 0] += page.checkedCount
        sealedCount += page.sealedCount
        quarantinedCount += page.quarantinedCount
        repairedCount += page.findings.count { $0.isRepaired }
        unrepairedCount += page.findings.count { !$0.isRepaired }
    }

    /// What is printed if nothing was found.
    static let isWell = "all is well"

    func json(quarantined: Int, faults: Int) -> JSONObject {
        var stages = JSONObject()
        for stage in CheckStage.allCases { stages.set(stage.rawValue, .integer(Int64(checked[stage] ?? 0))) }
        return [
            "checked": .object(stages), "sealed": .integer(Int64(sealedCount)),
            "damaged": .integer(Int64(unrepairedCount)), "repaired": .integer(Int64(repairedCount)),
            "inQuarantine": .integer(Int64(quarantined)), "faults": .integer(Int64(faults)),
        ]
    }

    func lines(of waiting: [QuarantineEntry], repairs: Bool) -> [String] {
        let counts = CheckStage.allCases.filter { $0 != .counts }.map { "\($0.words) (\(checked[$0] ?? 0))" }
        var lines = ["looked at \(counts.joined(separator: ", ")), and the counts; not at the contents of files"]
        if sealedCount > 0 {
            lines.append(
                "whether \(sealedCount) secrets open was not looked at: they are locked (unlock, and repeat it), or want a person"
            )
        }
        if repairs && repairedCount > 0 {
            lines.append("repaired \(repairedCount); \(quarantinedCount) rows went into quarantine")
        }
        if !waiting.isEmpty {
            let good = waiting.count { $0.obstacle == nil }
            let words = good > 0 ? "; \(good) of them can be put back by --restore" : ""
            lines.append("in quarantine: \(waiting.count)\(words)")
        }
        lines.append(
            unrepairedCount > 0
                ? "found \(unrepairedCount) damaged; 'coffer doctor --repair' puts them out of the way, nothing is thrown away"
                : repairedCount > 0 ? "all that is left is well" : Self.isWell
        )
        return lines
    }
}

/// Shows how many rows were looked at, once it has lasted half a second: on a terminal only.
private final class CheckProgress {
    private static let delay: UInt64 = 500_000_000

    private let output = Output.standardError
    private let clock = BootClock.system
    private let start: UInt64
    private var isShown = false

    init?() {
        guard output.isTerminal else { return nil }
        start = clock.now
    }

    func update(_ count: Int) {
        guard clock.now - start >= Self.delay else { return }
        isShown = true
        output.write("\r\u{1B}[Klooked at \(count) rows")
    }

    func finish() {
        if isShown { output.write("\r\u{1B}[K") }
        isShown = false
    }
}

extension CheckStage {
    /// What it looks at, in the plural.
    fileprivate var words: String {
        switch self {
        case .database: "parts of the database"
        case .keychainItems: "keychain items"
        case .formerValues: "former values"
        case .keychainTags: "entries of the search"
        case .files: "files and directories"
        case .counts: "counts"
        }
    }

    /// One of it.
    fileprivate var word: String {
        switch self {
        case .database: "the database's"
        case .keychainItems: "keychain item"
        case .formerValues: "former value"
        case .keychainTags: "entry of the search"
        case .files: "file or directory"
        case .counts: "the count of"
        }
    }
}

/// One of what is looked at, as far as it can be named.
private func title(_ stage: CheckStage, _ name: String?, _ reference: ItemID?) -> String {
    [stage.word, name, reference?.hexadecimal].compactMap { $0 }.joined(separator: " ")
}

extension Finding {
    /// What, why, and what to do.
    fileprivate var line: String {
        let words: String
        switch (repair, isRepaired) {
        case (.quarantine, false): words = "--repair moves it into quarantine"
        case (.quarantine, true): words = "moved into quarantine"
        case (.rewrite, false): words = "--repair writes it anew"
        case (.rewrite, true): words = "written anew"
        case (.backup, _): words = "copy what can be read out of the vault, and restore a backup"
        case (.directory, false): words = "--repair makes a directory for it"
        case (.directory, true): words = "a directory 'recovered-…' was made for it"
        }
        return "\(title(stage, name, reference)): \(damage.words); \(words)"
    }
}

extension QuarantineEntry {
    fileprivate var title: String { CofferCommands.title(stage, name, reference) }
}
