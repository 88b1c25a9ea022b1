import CofferTestSupport
import Foundation

/// Random sequences of operations of three concurrent clients, compared with a model.
///
/// Every request is answered, and the model permits the answers in some order of the concurrent requests.
enum SequencesCampaign {
    static func run(_ report: Report) throws {
        let preload = try Preload()
        let template = try template(preload)
        for number in report.cases {
            report.attempt(number) {
                let sequence = try Sequence(report.generator(of: number), preload, vault: template.path)
                do { try sequence.run() } catch {
                    let rounds = sequence.rounds.joined(separator: "\n  ")
                    throw Fault("\(inWords(error)); the rounds:\n  \(rounds)\n")
                }
                report.tally("requests", sequence.requestCount)
            }
        }
    }

    /// A state directory with an empty vault, because a copy is faster than a new vault.
    private static func template(_ preload: Preload) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let launcher = preload.launcher(
            statePath: directory.appending("state"),
            try Control(in: directory),
            isQuick: true
        )
        let daemon = try DaemonProcess(in: directory, launchedBy: launcher)
        try daemon.connectUnchecked().makeVault()
        try expect(daemon.stop() == 0, "the daemon has not ended in order")
        return try copyState(daemon.statePath)
    }
}
