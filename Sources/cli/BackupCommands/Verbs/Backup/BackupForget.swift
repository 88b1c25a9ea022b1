internal import ArgumentParser
internal import CofferBackup
internal import CofferCommandSupport
internal import CofferCore
internal import CofferTerminal
internal import CofferWire

struct BackupForget: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Forget snapshots, by number or by age; 'coffer backup prune' frees their space.",
        discussion: """
            Each --keep option keeps the newest snapshot of each of the last N days, weeks, months or years that have one. The \
            newest of all is always kept.
            """
    )

    @Argument(help: "The snapshots to forget: numbers, or beginnings of digests.")
    var snapshots: [String] = []

    @Option(help: ArgumentHelp("Keep the last N.", valueName: "n"))
    var keepLast = 0
    @Option(help: ArgumentHelp("Keep one a day, for N days.", valueName: "n"))
    var keepDaily = 0
    @Option(help: ArgumentHelp("Keep one a week, for N weeks.", valueName: "n"))
    var keepWeekly = 0
    @Option(help: ArgumentHelp("Keep one a month, for N months.", valueName: "n"))
    var keepMonthly = 0
    @Option(help: ArgumentHelp("Keep one a year, for N years.", valueName: "n"))
    var keepYearly = 0
    @Flag(help: "Say what would be forgotten, and forget nothing.")
    var dryRun = false
    @Flag(help: "Prune afterwards.")
    var prune = false

    @OptionGroup var repository: RepositoryOptions
    @OptionGroup var format: FormatOptions

    private var policy: ForgetPolicy {
        var policy = ForgetPolicy()
        (policy.last, policy.daily, policy.weekly) = (keepLast, keepDaily, keepWeekly)
        (policy.monthly, policy.yearly) = (keepMonthly, keepYearly)
        return policy
    }

    func validate() throws {
        let counts = [keepLast, keepDaily, keepWeekly, keepMonthly, keepYearly]
        if counts.contains(where: { $0 < 0 }) { throw ValidationError("--keep options are numbers, 0 or more") }
        if policy.isEmpty == snapshots.isEmpty {
            throw ValidationError(
                "name the snapshots to forget, or say by --keep-daily and the like which ones to keep"
            )
        }
        try exclude(["--prune": prune], ["--dry-run": dryRun])
    }

    func run() throws {
        let opened = try repository.open()
        let chain = try opened.chain()
        let chosen: [Snapshot]
        if snapshots.isEmpty {
            let kept = policy.kept(of: chain.snapshots.map(\.date))
            chosen = chain.snapshots.indices.filter { !kept.contains($0) }.map { chain.snapshots[$0] }
        } else {
            chosen = try snapshots.map { (name) throws(CofferError) in try chain.snapshot(named: name) }
        }
        if !dryRun { try opened.forget(chosen) }
        for snapshot in chosen {
            let words: Line = "snapshot \(snapshot.reference.number) of \(Timestamp.text(snapshot.date))"
            format.show(snapshot.json, dryRun ? "would forget \(words)" : "forgot \(words)")
        }
        if prune { try BackupPrune.prune(opened, format) }
    }
}
