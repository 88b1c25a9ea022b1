import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

/// System calls of the daemon that fail, once or persistently.
///
/// A refused request has had no effect, an acknowledged one is stored, and the daemon continues when the
/// fault ends.
enum CallsCampaign {
    static func run(_ report: Report) throws {
        let preload = try Preload()
        for number in report.cases {
            report.attempt(number) {
                let random = report.generator(of: number)
                var attack = try Attack(random, preload)
                do {
                    try attack.run(report)
                } catch {
                    throw Fault("\(attack.fault) in \(attack.scene): \(inWords(error))")
                }
                report.tally("calls that failed", attack.failedCount)
                report.tally("\(attack.scene)")
            }
        }
    }

    /// The activity during which a call fails.
    fileprivate enum Scene: CaseIterable { case work, initialization, passcodeChange, start }

    fileprivate struct Failure: CustomStringConvertible {
        let kind: Control.Kind
        let number: Int
        let code: Int32
        let isLasting: Bool

        var description: String {
            "\(kind) \(number)\(isLasting ? " and all behind it" : "") with \(code == ENOSPC ? "ENOSPC" : "EIO")"
        }

        /// The permitted refusals.
        var codes: Set<ErrorCode> {
            if code == EIO { return [.io] }
            // SQLite reports a full disk during a sync as a failed sync.
            return kind == .sync ? [.diskFull, .io] : [.diskFull]
        }
    }

    fileprivate struct Attack {
        let scene: Scene
        let fault: Failure
        private let directory: TemporaryDirectory
        private let control: Control
        private let daemon: DaemonProcess
        private let writer: Writer
        private(set) var failedCount = 0

        init(_ random: Generator, _ preload: Preload) throws {
            var random = random
            scene = random.chance(0.55) ? .work : random.pick(Scene.allCases)
            let kind = random.pick(Control.Kind.allCases)
            let isFull = [.write, .sync, .rename, .mkdir, .resize].contains(kind) && random.chance(0.4)
            fault = Failure(
                kind: kind,
                number: 1 + random.below([.write, .sync, .read].contains(kind) ? (scene == .work ? 40 : 15) : 6),
                code: isFull ? ENOSPC : EIO,
                isLasting: random.chance(0.3)
            )
            directory = try TemporaryDirectory()
            control = try Control(in: directory)
            writer = Writer("w/", Generator(seed: random.next()))
            daemon = try DaemonProcess(
                in: directory,
                launchedBy: preload.launcher(statePath: directory.appending("state"), control)
            )
        }

        mutating func run(_ report: Report) throws {
            switch scene {
            case .work: try work()
            case .initialization: try initialize()
            case .passcodeChange: try changePasscode()
            case .start: try start()
            }
            failedCount = control.failedCount
        }

        private func arm() { control.fail(fault.kind, fault.number, with: fault.code, isLasting: fault.isLasting) }

        private func expectRight(_ error: CofferError) throws {
            try expect(fault.codes.contains(error.code), "refused with \(error.code.rawValue): \(error.message)")
        }

        private func makeVault(passcode: String? = nil) throws {
            try daemon.connect().makeVault(passcode: passcode)
        }

        /// Steps without a fault.
        private func workInPeace(_ count: Int) throws {
            let client = try daemon.connectUnchecked()
            for _ in 0..<count {
                if let error = try writer.attempt(client) {
                    throw Fault("refused in peace: \(error.code.rawValue): \(error.message)")
                }
            }
        }

        // MARK: Scenes

        private func work() throws {
            try makeVault()
            try workInPeace(12)
            let client = try daemon.connect()
            arm()
            for _ in 0..<20 {
                guard let error = try writer.attempt(client) else { continue }
                if let ending = daemon.ending { return try resume(after: ending) }
                try expectRight(error)
            }
            control.endFailing()
            try resume(after: nil)
        }

        private func resume(after ending: DaemonProcess.Ending?) throws {
            control.endFailing()
            if let ending { try expectOrder(ending) } else { try check(isFinal: false) }
            if ending == nil { try workInPeace(5) }
            try daemon.restart()
            try check(isFinal: true)
            try workInPeace(5)
        }

        private func initialize() throws {
            arm()
            let outcome = try attempt { try makeVault() }
            control.endFailing()
            if let ending = daemon.ending {
                try expectOrder(ending)
                try daemon.restart()
            }
            let state = try daemon.connect().status().state
            try expect(
                (outcome == nil) == (state != .noVault),
                "\(outcome.map { "the refusal \($0.rawValue)" } ?? "answered"), and it is \(state)"
            )
            try daemon.restart()
            let later = try daemon.connect().status().state
            try expect(state == later, "it was \(state), and is \(later) after a restart")
            if state == .noVault { try makeVault() }
            try workInPeace(5)
            try daemon.restart()
            try check(isFinal: true)
        }

        private func changePasscode() throws {
            try makeVault(passcode: DaemonProcess.passcode)
            try workInPeace(3)
            let client = try daemon.connect()
            let old = try SecretBytes(DaemonProcess.passcode.utf8)
            let new = try SecretBytes("another".utf8)
            arm()
            let outcome = try attempt { _ = try client.changePasscode(with: old, to: new, kdf: .interactive) }
            control.endFailing()
            if let ending = daemon.ending { try expectOrder(ending) }
            try daemon.restart()
            let later = try daemon.connect()
            try later.unlock(outcome == nil ? "another" : DaemonProcess.passcode)
            try check(isFinal: true)
            try workInPeace(3)
        }

        private func start() throws {
            try makeVault()
            try workInPeace(12)
            daemon.kill()
            arm()
            try daemon.launch()
            // The start is refused, or the daemon ends, or the fault does not affect it.
            _ = try? daemon.awaitListening()
            if let ending = daemon.ending {
                try expectOrder(ending)
            } else if let error = try attempt({ _ = try daemon.connect().listAll() }) {
                try expect(error != .decode, "a failed call is told as damage")
            }
            control.endFailing()
            try daemon.restart()
            try check(isFinal: true)
            try workInPeace(5)
        }

        private func attempt(_ request: () throws -> Void) throws -> ErrorCode? {
            do {
                try request()
                return nil
            } catch let error as CofferError {
                if daemon.ending == nil { try expectRight(error) }
                return error.code
            }
        }

        // MARK: Checking

        private func expectOrder(_ ending: DaemonProcess.Ending) throws {
            guard case .exit = ending else { throw Fault("the daemon has ended: \(ending)") }
        }

        /// Compares the vault with the expectation.
        ///
        /// - Parameter isFinal: Whether all files are closed.
        private func check(isFinal: Bool) throws {
            let client = try daemon.connect()
            let listed = try client.listAll()
            try writer.check(client, listed.items, settles: isFinal)
            let findings = try client.checkAll()
            try expect(findings.isEmpty, "doctor: \(findings.map(\.damage.words))")
            if isFinal {
                try daemon.expectNothingLeft(files: listed.items.values.count { $0.protection.store == .file })
            }
        }
    }
}
