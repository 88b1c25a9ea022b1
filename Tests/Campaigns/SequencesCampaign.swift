import CofferTestSupport
import Foundation

/// Sequences of operations by chance, of three clients at once, beside a model.
///
/// Each answer is one that the model allows in some order of the requests that were under way, and each request has one.
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

    /// A state directory with an empty vault: to make one takes longer than to copy it.
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
