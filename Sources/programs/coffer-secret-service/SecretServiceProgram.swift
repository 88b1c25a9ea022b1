import ArgumentParser
import CofferClient
import CofferCommandSupport
import CofferMemory
import CofferSecretService
import CofferSystem
import CofferTerminal

/// The program: the options by which `coffer` finds the daemon, and what a program's Lock does.
struct SecretServiceProgram: Executable {
    static let configuration = CommandConfiguration(
        commandName: "coffer-secret-service",
        abstract: "Serve the vault as the Secret Service of the session bus.",
        discussion: """
            It owns org.freedesktop.secrets until it is ended. 'coffer secret-service enable' has the bus start it when a \
            program asks for secrets.
            """
    )

    @Flag(help: "When a program locks a collection, only say that it is locked: the vault stays as it is.")
    var keepUnlocked = false

    @Flag(help: "Keep programs apart: each has items of its own, and one that the daemon can't tell has none.")
    var isolate = false

    @Flag(name: .customLong("import"), help: .hidden)
    var isImport = false

    @Flag(help: .hidden)
    var dryRun = false

    @Flag(help: .hidden)
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func validate() throws {
        try exclude(["--import": isImport], ["--keep-unlocked": keepUnlocked, "--isolate": isolate])
        try require("--import", isImport, for: ["--dry-run": dryRun, "--json": json])
    }

    func run() throws {
        do { try ProcessHardening.apply() } catch { throw error.cofferError("can't protect the memory") }
        Sodium.prepare()
        if isImport { return try copyItems() }
        try Bridge.run(
            { () throws(CofferError) in try connection.connect() },
            environment: { environment($0) },
            locksVault: !keepUnlocked,
            isolates: isolate,
            report: { Output.report($0) }
        )
    }

    /// Carries out `coffer import secret-service`.
    private func copyItems() throws(CofferError) {
        var report = ImportReport()
        var failure: CofferError?
        do throws(CofferError) {
            try MovingIn.run(
                { () throws(CofferError) in try connection.connect() },
                patience: connection.patience,
                isDryRun: dryRun
            ) { event in
                switch event {
                case .item(let step, let collection, let label, let byteCount):
                    report.rows.append(
                        .init(step.action, "secret", label, place: collection, byteCount: byteCount)
                    )
                case .leftOut(let count, let words):
                    report.leftOut += count
                    Output.warn([words])
                case .notice(let words): Output.standardError.line("\(words)")
                }
            }
        } catch { failure = error }
        if let failure, report.isEmpty { throw failure }
        if dryRun { report.showPlan(json: json) } else { report.show(json: json) }
        if let failure { throw failure }
        if !dryRun {
            Output.standardError.line(
                "the other service still has all of it; 'coffer secret-service enable' has programs use the vault"
            )
        }
    }
}

extension MovingIn.Step {
    fileprivate var action: ImportAction {
        switch self {
        case .stored: .store
        case .replaced: .replace
        case .skipped: .skip
        }
    }
}
