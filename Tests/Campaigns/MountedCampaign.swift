import CofferClient
import CofferCore
import CofferTestSupport
import Foundation

/// A program that works in a mount, while the daemon is killed, the kernel ends the mount or calls of the daemon fail.
///
/// What was answered is there, and the mount shows what the vault has.
final class MountedCampaign {
    private enum Event: CaseIterable { case daemonKill, mountEnd, failingCall, failingDisk }

    /// What may happen here: only root may end the kernel's connection.
    private static let events = Event.allCases.filter { $0 != .mountEnd || geteuid() == 0 }

    private let directory: TemporaryDirectory
    private let control: Control
    private let daemon: DaemonProcess
    private let mount: MountedVault

    private static let casesOfVault = 50

    static func run(_ report: Report) throws {
        try expect(MountedVault.isPossible, "there is no /dev/fuse that this user may open")
        let preload = try Preload()
        var campaign: MountedCampaign?
        for number in report.cases {
            let isGood = report.attempt(number) {
                let current = try campaign ?? MountedCampaign(preload)
                campaign = current
                var random = report.generator(of: number)
                try current.interrupt("r\(number)", &random, report)
            }
            // After a fault, the same vault would report it again.
            if !isGood || number % Self.casesOfVault == Self.casesOfVault - 1 { campaign = nil }
        }
    }

    private init(_ preload: Preload) throws {
        directory = try TemporaryDirectory()
        control = try Control(in: directory)
        let launcher = preload.launcher(statePath: directory.appending("state"), control)
        daemon = try DaemonProcess(in: directory, launchedBy: launcher)
        try daemon.connectUnchecked().makeVault(passcode: nil)
        mount = try MountedVault(of: daemon)
    }

    private func interrupt(_ root: String, _ random: inout Generator, _ report: Report) throws {
        let event = random.chance(0.4) ? .daemonKill : random.pick(Self.events)
        let isEnding = Shared(false)
        let clock = Shared<Int64>(0)
        let writer = TreeWriter(
            root,
            by: DirectoryCalls(mount.path),
            Generator(seed: random.next()),
            position: {
                clock.change { $0 += 1 }
                return clock.value
            },
            isEnding: { isEnding.value }
        )
        let work = Background { () -> DirectoryCalls.Failure? in
            do {
                while true { try writer.step() }
            } catch is TreeWriter.Ended {
                return nil
            } catch let failure as DirectoryCalls.Failure {
                return failure
            }
        }
        usleep(UInt32(random.below(250_000)))
        let permitted = try make(event, &random, isEnding)
        let failure = try work.wait()
        control.endFailing()
        if let failure {
            try expect(permitted.contains(failure.code), "\(event): \(failure)")
            report.tally("refused: \(failure)")
        }
        try recover(event, report)
        do {
            // What was written is the daemon's before it is answered, whoever ends then.
            try check(writer.record, [.daemonKill, .mountEnd].contains(event) ? .clientEnd : .daemonEnd)
        } catch {
            throw Fault("\(event)\(failure.map { ", \($0)" } ?? ""): \(inWords(error))")
        }
        report.tally("\(event)")
        report.tally("answered", writer.answerCount)
    }

    /// - Returns: What the program may be told.
    private func make(_ event: Event, _ random: inout Generator, _ isEnding: Shared<Bool>) throws -> Set<Int32> {
        switch event {
        case .daemonKill:
            isEnding.value = true
            daemon.kill()
            return [ENOTCONN, ECONNABORTED]
        case .mountEnd:
            isEnding.value = true
            try mount.abort()
            return [ENOTCONN, ECONNABORTED]
        case .failingCall, .failingDisk:
            let isFull = random.chance(0.5)
            let kinds: [Control.Kind] = isFull ? [.write, .sync, .resize] : [.write, .sync, .read, .open, .rename]
            let kind = random.pick(kinds)
            let code = isFull ? ENOSPC : EIO
            control.fail(kind, 1 + random.below(20), with: code, isLasting: event == .failingDisk)
            usleep(UInt32(random.below(400_000)))
            isEnding.value = true
            // SQLite reports a full disk during a sync as a failed sync.
            return isFull && kind != .sync ? [ENOSPC] : [code, EIO]
        }
    }

    private func recover(_ event: Event, _ report: Report) throws {
        if event == .mountEnd { return try mount.mount() }
        guard let ending = daemon.ending else { return }
        if event != .daemonKill {
            guard case .exit = ending else { throw Fault("the daemon has ended: \(ending)") }
            report.tally("the daemon has given up")
        }
        try mount.restart()
    }

    private func check(_ record: TreeRecord, _ interruption: TreeRecord.Interruption) throws {
        let client = try daemon.connectUnchecked()
        try record.check(client, after: interruption)
        for (name, content) in try record.contents(by: client) {
            let isShown = settles { FileManager.default.contents(atPath: mount.appending(name)) == Data(content) }
            try expect(isShown, "the mount shows another content of '\(name)'")
        }
        let findings = try client.checkAll()
        try expect(findings.isEmpty, "doctor: \(findings.map(\.damage.words))")
        try daemon.expectAlive()
        let areGone = settles { daemon.removedFiles.isEmpty }
        try expect(areGone, "removed files stay open: \(daemon.removedFiles.joined(separator: ", "))")
    }
}
