import Foundation

/// `packaging/tools/campaign`: random attacks on a real daemon, reproducible by their seed.
enum Campaigns {
    private struct Campaign: Sendable {
        let name: String
        /// The default number of cases.
        let usualCount: Int
        let run: @Sendable (Report) throws -> Void
    }

    private static let all = [
        Campaign(name: "backups", usualCount: 200, run: BackupsCampaign.run),
        Campaign(name: "calls", usualCount: 200, run: CallsCampaign.run),
        Campaign(name: "flips", usualCount: 300, run: FlipsCampaign.run),
        Campaign(name: "kills", usualCount: 200, run: KillsCampaign.run),
        Campaign(name: "methods", usualCount: 100, run: MethodsCampaign.run),
        Campaign(name: "mount", usualCount: 20, run: MountCampaign.run),
        Campaign(name: "mounted", usualCount: 200, run: MountedCampaign.run),
        Campaign(name: "power", usualCount: 200, run: PowerCampaign.run),
        Campaign(name: "rows", usualCount: 300, run: RowsCampaign.run),
        Campaign(name: "sequences", usualCount: 100, run: SequencesCampaign.run),
    ]

    static func main() {
        signal(SIGPIPE, SIG_IGN)
        var words = CommandLine.arguments.dropFirst()
        guard let campaign = all.first(where: { $0.name == words.first }) else { refuse("no such campaign") }
        words.removeFirst()
        let numbers = words.compactMap { UInt64($0) }
        guard numbers.count == words.count, words.count <= 3 else { refuse("a number is wanted") }
        let count = numbers.first.map { Int(clamping: $0) } ?? campaign.usualCount
        let seed = numbers.dropFirst().first ?? UInt64.random(in: 1..<1_000_000)
        let report = Report(campaign.name, count: count, seed: seed, only: numbers.dropFirst(2).first.map { Int($0) })
        print("seed \(seed)")
        fflush(nil)
        do {
            try campaign.run(report)
        } catch {
            report.add("the campaign itself failed: \(error)")
        }
        exit(report.finish())
    }

    private static func refuse(_ reason: String) -> Never {
        let names = all.map(\.name).joined(separator: ", ")
        FileHandle.standardError.write(
            Data("error: \(reason)\nhint: campaigns NAME [N] [SEED] [CASE], of \(names)\n".utf8)
        )
        exit(64)
    }
}
