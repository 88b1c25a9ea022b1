import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

/// Power cuts at any instant, on disks that lose what was not synced.
///
/// The system calls of a real daemon are recorded. From the recording, the possible disks after a cut are
/// made, and a real daemon opens each.
enum PowerCampaign {
    private static let casesOfRecording = 40

    static func run(_ report: Report) throws {
        let preload = try Preload()
        var current: (number: Int, recording: Recording)?
        for number in report.cases {
            report.attempt(number) {
                let group = number / casesOfRecording
                if current?.number != group {
                    current = (group, try Recording(report.generator(of: group + 1_000_000), preload))
                }
                var random = report.generator(of: number)
                if let current { try cut(current.recording, &random, report) }
            }
        }
    }

    private static func cut(_ recording: Recording, _ random: inout Generator, _ report: Report) throws {
        let ends = recording.disk.ends
        // Half of the cuts are at an answer and leave the minimum that POSIX guarantees, which detects
        // missing syncs.
        let isWorst = random.chance(0.5)
        // At an answer, when everything acknowledged must be there, or between any two calls.
        let position = isWorst || random.chance(0.5) ? random.pick(recording.answers) : Int64(random.pick(ends))
        let loss = isWorst ? .everything : random.pick(RecordedDisk.Loss.allCases)
        let entries = isWorst ? .eachDirectory : random.pick(RecordedDisk.Entries.allCases)
        let directory = try TemporaryDirectory()
        try recording.disk.cut(at: Int(position), loss, entries, &random, into: directory.appending("state"))
        try bootAgain(directory.appending("state"))
        do {
            try recording.check(directory, at: position, report)
        } catch {
            throw Fault(
                "cut at byte \(position) of \(recording.disk.byteCount), \(entries), \(loss) is lost: \(inWords(error))"
            )
        }
        report.tally("\(entries), \(loss) lost")
    }
}

/// Has the log of unsynced changes, which is for one boot, be of the boot before the power cut.
private func bootAgain(_ statePath: String) throws {
    let path = "\(statePath)/unsynced"
    guard let log = FileManager.default.contents(atPath: path), log.count > 10 else { return }
    var bytes = log
    bytes[10] ^= 1
    try bytes.write(to: URL(filePath: path))
}

/// The recorded calls of a daemon, and its answers.
private struct Recording {
    let disk: RecordedDisk
    /// The position of each answer in the recording.
    let answers: [Int64]
    private let writers: [Writer]
    private let deferring: TreeRecord
    /// Passcodes, with the positions before and after the change to each.
    private let passcodes: [(start: Int64, end: Int64, passcode: String)]

    private static let stepsOfWriter = 25
    private static let deferredSteps = 60

    init(_ random: Generator, _ preload: Preload) throws {
        var random = random
        let directory = try TemporaryDirectory()
        let statePath = directory.appending("state")
        guard mkdir(statePath, 0o700) == 0 else { throw Fault("mkdir: \(errno)") }
        var status = stat()
        guard stat(statePath, &status) == 0 else { throw Fault("stat: \(errno)") }
        let control = try Control(in: directory)
        let logPath = directory.appending("log")
        let launcher = preload.launcher(statePath: statePath, control, logPath: logPath)
        let daemon = try DaemonProcess(in: directory, launchedBy: launcher)
        let seed = random.next()
        writers = (0..<2).map {
            Writer("w\($0)/", Generator(seed: seed, UInt64($0)), position: { control.position })
        }
        let mount = TreeWriter(
            "deferred",
            by: try DeferringClient(try daemon.connectUnchecked()),
            Generator(seed: seed, 2),
            position: { control.position }
        )
        passcodes = try Self.work(daemon, control, writers, mount)
        deferring = mount.record
        try daemon.expectAlive()
        daemon.stop()
        disk = try RecordedDisk(logPath, root: UInt64(status.st_ino))
        answers = writers.flatMap { $0.journal.entries.map(\.end) } + passcodes.map(\.end) + deferring.answers
    }

    private static func work(
        _ daemon: DaemonProcess,
        _ control: Control,
        _ writers: [Writer],
        _ mount: TreeWriter
    ) throws -> [(start: Int64, end: Int64, passcode: String)] {
        let client = try daemon.connectUnchecked()
        var passcodes: [(start: Int64, end: Int64, passcode: String)] = []
        func note(_ passcode: String, _ request: () throws -> Void) throws {
            let start = control.position
            try request()
            passcodes.append((start, control.position, passcode))
        }
        try note(DaemonProcess.passcode) { try client.makeVault() }
        for passcode in ["second", "third"] {
            var works = try writers.map { writer in
                let client = try daemon.connectUnchecked()
                return Background { for _ in 0..<Self.stepsOfWriter { try writer.step(client) } }
            }
            works.append(Background { for _ in 0..<Self.deferredSteps { try mount.step() } })
            try note(passcode) {
                let old = try SecretBytes((passcodes.last?.passcode ?? "").utf8)
                let new = try SecretBytes(passcode.utf8)
                _ = try client.changePasscode(with: old, to: new, kdf: .interactive)
            }
            for work in works { try work.wait() }
        }
        // Alone, no other client's sync makes its changes durable.
        for _ in 0..<Self.deferredSteps { try mount.step() }
        return passcodes
    }

    /// Opens the state after a cut, and throws if an acknowledged change is missing.
    func check(_ directory: TemporaryDirectory, at position: Int64, _ report: Report) throws {
        let daemon = try DaemonProcess(in: directory, launchedBy: DaemonProcess.endingWithUs)
        let client = try daemon.connectUnchecked()
        guard try client.status().state != .noVault else {
            try expect(passcodes[0].end > position, "there is no vault, and it was answered")
            try client.makeVault()
            return report.tally("before there was a vault")
        }
        try expect(passcodes[0].start <= position, "there is a vault, and nobody has asked for it")
        try unlock(client, at: position)
        let listed = try client.listAll()
        try expect(listed.damagedCount == 0, "\(listed.damagedCount) items are damaged")
        for writer in writers {
            let own = listed.items.filter { $0.key.hasPrefix(writer.prefix) }
            _ = try writer.journal.expectation(at: position).check(client, own)
        }
        report.tally("deferred changes that are lost", try deferring.check(client, after: .powerCut, at: position))
        let findings = try client.checkAll()
        try expect(findings.isEmpty, "doctor: \(findings.map(\.damage.words))")
        let audit = try client.verifyAll()
        try expect(audit.isEmpty, "the audit: \(audit)")
        let fileCount = listed.items.values.count { $0.protection.store == .file }
        if try daemon.contentIDs().count > fileCount { report.tally("with a content left over") }
        try daemon.expectAlive()
    }

    private func unlock(_ client: BlockingClient, at position: Int64) throws {
        let current = passcodes.last { $0.end <= position } ?? passcodes[0]
        if try Outcome({ try client.unlock(current.passcode) }) == .done { return }
        let pending = passcodes.first { $0.start <= position && $0.end > position }
        guard let pending else { throw Fault("the passcode does not open the vault") }
        try client.unlock(pending.passcode)
    }
}
