import CofferTestSupport
import Foundation

/// Sequences of operations by chance, of three clients at once, beside a model.
///
/// Each answer is one that the model allows in some order of the requests that were under way, and each request has one.
enum SequencesCampaign {
    static func run(_ report: Report) throws {
        let (preload, template) = (try Preload(), try template())
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
    private static func template() throws -> TemporaryDirectory {
        let daemon = try DaemonProcess(launchedBy: DaemonProcess.endingWithUs)
        try daemon.connect().makeVault()
        try expect(daemon.stop() == 0, "the daemon has not ended in order")
        return try copyState(daemon.statePath)
    }
}
