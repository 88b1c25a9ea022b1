import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

/// A daemon that is killed at random instants, during writes and during its start.
///
/// Acknowledged changes are stored, no change is incomplete, and no file is left over.
final class KillsCampaign {
    private let daemon: DaemonProcess
    private let writers: [Writer]
    private let keys: KeyChanges
    private var random: Generator

    static func run(_ report: Report) throws {
        var campaign: KillsCampaign?
        for number in report.cases {
            let isGood = report.attempt(number) {
                let current = try campaign ?? KillsCampaign(report.generator(of: number))
                campaign = current
                try current.kill(number, report)
            }
            // After a fault, the same vault would report it again.
            if !isGood || number % 250 == 249 { campaign = nil }
        }
    }

    private init(_ random: Generator) throws {
        daemon = try DaemonProcess(launchedBy: DaemonProcess.endingWithUs)
        self.random = random
        keys = KeyChanges(self.random.next())
        writers = (0..<3).map { Writer("w\($0)/", Generator(seed: random.seedOfWriters, UInt64($0))) }
        let none: SecretBytes? = nil
        _ = try daemon.connectUnchecked().initialize(passcode: none, kdf: nil)
    }

    private func kill(_ number: Int, _ report: Report) throws {
        let isInStart = random.chance(0.2)
        if isInStart {
            try killInStart()
        } else {
            try killAtWork(report)
        }
        report.tally(isInStart ? "in the start" : "at work")
        try daemon.restart()
        let client = try daemon.connectUnchecked()
        try keys.unlock(client)
        try check(client, isEverything: number % 25 == 24)
        if number % 10 == 9 {
            let findings = try client.verifyAll()
            try expect(findings.isEmpty, "the audit: \(findings)")
        }
    }

    private func killInStart() throws {
        daemon.kill()
        try daemon.launch()
        usleep(UInt32(random.below(120_000)))
        daemon.kill()
    }

    private func killAtWork(_ report: Report) throws {
        let active = writers.prefix(1 + random.below(writers.count))
        let changesKeys = random.chance(0.25)
        let works = try active.map { writer in
            let client = try daemon.connectUnchecked()
            return Background { try writer.work(client) }
        }
        let keysClient = try daemon.connectUnchecked()
        let keysWork = changesKeys ? Background { [keys] in try keys.work(keysClient) } : nil
        usleep(UInt32(random.below(changesKeys ? 400_000 : 160_000)))
        try daemon.expectAlive()
        daemon.kill()
        for work in works { report.tally("acknowledged", try work.wait()) }
        if let keysWork { report.tally("acknowledged", try keysWork.wait()) }
    }

    private func check(_ client: BlockingClient, isEverything: Bool) throws {
        let listed = try client.listAll()
        try expect(listed.damagedCount == 0, "\(listed.damagedCount) items are damaged")
        for writer in writers {
            try writer.check(client, listed.items, isEverything: isEverything)
        }
        let findings = try client.checkAll()
        try expect(findings.isEmpty, "doctor: \(findings.map(\.damage.words))")
        try daemon.expectNothingLeft(files: listed.items.values.count { $0.protection.store == .file })
    }
}

extension Generator {
    /// A seed for writers, without advancing the generator.
    fileprivate var seedOfWriters: UInt64 {
        var copy = self
        return copy.next()
    }
}
