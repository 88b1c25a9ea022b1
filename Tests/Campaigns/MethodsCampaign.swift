import CofferCore
import CofferTestSupport
import CofferWire
import Foundation

/// Calls of every method, in every state of a vault that has something of everything, which may be damaged.
///
/// The daemon answers each call in a bounded time, and another client's in between; it goes on, its memory does not grow
/// without bound, and no answer is an internal error.
enum MethodsCampaign {
    static func run(_ report: Report) throws {
        let preload = try Preload()
        let template = try MethodVault { try launcher(preload, $0, in: TemporaryDirectory()) }
        // The kept ones come first, and count as no cases.
        for (name, script) in try MethodScript.kept() {
            do {
                try MethodRun(script.scene, template, preload).play(script)
            } catch {
                report.add("\(name): \(inWords(error))")
            }
        }
        let rpc = try OpenRPC()
        for number in report.cases {
            report.attempt(number) {
                var random = report.generator(of: number)
                let scene = MethodScene.allCases[number % MethodScene.allCases.count]
                let run = try MethodRun(scene, template, preload)
                do {
                    try run.playByChance(rpc, &random)
                } catch {
                    let place = "\(Project.root)/.build-fuzz/findings/methods-\(report.seed)-\(number)"
                    try keep(run.script, at: place)
                    throw Fault("\(scene): \(inWords(error)); the calls are in '\(place)'")
                }
                report.tally("calls", run.script.calls.count)
                report.tally("done", run.doneCount)
                report.tally("\(scene)")
            }
        }
    }

    private static func keep(_ script: MethodScript, at path: String) throws {
        let folder = URL(filePath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(script.text.utf8).write(to: URL(filePath: path))
    }

    /// Starts a daemon whose key derivation is quick, and whose files can't fill the disk.
    static func launcher(_ preload: Preload, _ statePath: String, in directory: TemporaryDirectory) throws -> [String] {
        let control = try Control(in: directory)
        let limit = "--fsize=\(64 << 20)"
        return ["/usr/bin/prlimit", limit] + preload.launcher(statePath: statePath, control, isQuick: true)
    }
}

/// The calls to one vault.
final class MethodRun {
    private let directory: TemporaryDirectory
    private let daemon: DaemonProcess
    /// Two clients that call, and one that looks whether the daemon answers.
    private var peers: [SequencePeer]
    private var prober: SequencePeer
    private(set) var script: MethodScript
    private(set) var doneCount = 0
    private var number = 0
    /// What has to stay open as long as the call.
    private var descriptors: [Int32] = []

    private static let callCount = 150
    private static let answerSeconds = 60
    /// How long a client may be kept waiting by another one, on a busy machine.
    private static let probeSeconds: Double = 20
    private static let patienceMilliseconds: Int32 = 3000
    private static let memoryBytes = 256 << 20

    init(_ scene: MethodScene, _ template: MethodVault, _ preload: Preload) throws {
        script = MethodScript(scene)
        directory = scene == .noVault ? try TemporaryDirectory() : try copyState(template.statePath)
        let launcher = try MethodsCampaign.launcher(preload, directory.appending("state"), in: directory)
        let arguments = scene == .lockedExpired ? ["--inactive-after", "0"] : []
        daemon = try DaemonProcess(in: directory, arguments, launchedBy: launcher)
        peers = []
        prober = try SequencePeer(daemon.socketPath)
        peers = try (0..<2).map { _ in try SequencePeer(daemon.socketPath) }
    }

    deinit { for number in descriptors { close(number) } }

    // MARK: Playing

    /// Plays a script that is kept.
    func play(_ kept: MethodScript) throws {
        script = kept
        script.calls = []
        try damage(kept.damage)
        try bring()
        for call in kept.calls { _ = try perform(call, by: 0) }
        try end()
    }

    /// Plays calls by chance.
    func playByChance(_ rpc: OpenRPC, _ random: inout Generator) throws {
        var maker = ValueMaker(rpc, Generator(seed: random.next()))
        if script.scene == .damaged { try damage(try statements(&random)) }
        try bring()
        let formerBytes = try residentBytes()
        for step in 0..<Self.callCount {
            // A lock, an erasure or a change of the passcode would be the end of a state otherwise.
            if step % 25 == 24 { try bring() }
            let call = try maker.call()
            if let result = try perform(call, by: random.below(peers.count)) { maker.learn(.object(result)) }
        }
        try end()
        let growth = try residentBytes() - formerBytes
        try expect(growth < Self.memoryBytes, "the daemon has grown by \(growth >> 20) MiB")
    }

    /// Brings the vault into the state, as far as that is possible.
    private func bring() throws {
        let passcode = Array(DaemonProcess.passcode.utf8)
        var calls: [MethodCall] = []
        if script.scene != .noVault && script.scene != .beforeFirstUnlock {
            calls.append(MethodCall(method: "vault.unlock", params: [:], payload: passcode))
        }
        if [.unlocked, .damaged, .locking].contains(script.scene) {
            for (name, access) in [("tree/file0", "read"), ("tree/file1", "write"), ("tree/kept", "readWrite")] {
                calls.append(
                    MethodCall(method: "file.open", params: ["name": .string(name), "access": .string(access)])
                )
            }
            calls.append(MethodCall(method: "backup.begin", params: [:]))
            calls.append(MethodCall(method: "context.authenticate", params: ["reuse": 60], payload: passcode))
            calls.append(MethodCall(method: "vault.watch", params: ["items": true, "audit": true]))
        }
        switch script.scene {
        case .locking: calls.append(MethodCall(method: "vault.lock", params: ["grace": 300]))
        case .locked, .lockedExpired: calls.append(MethodCall(method: "vault.lock", params: ["grace": 0]))
        default: break
        }
        for call in calls { _ = try perform(call, by: 0) }
    }

    private func end() throws {
        try daemon.expectAlive()
        let code = daemon.stop()
        try expect(code == 0, "the daemon has ended with \(code)")
    }

    // MARK: Damage

    /// Impossible values in some rows.
    private func statements(_ random: inout Generator) throws -> [String] {
        let columns = try RawDatabase(daemon.statePath + "/vault.sqlite").columns()
            .filter { !["schema_migrations", "catalog_settings"].contains($0.table) }
        return (0..<(1 + random.below(6))).map { _ in
            let column = random.pick(columns)
            let value = random.pick(RowsCampaign.Value.all.filter { $0.fits(column) })
            return value.statement(in: column, offset: random.below(20))
        }
    }

    private func damage(_ statements: [String]) throws {
        script.damage = statements
        if statements.isEmpty { return }
        daemon.stop()
        do {
            let database = try RawDatabase(daemon.statePath + "/vault.sqlite")
            for statement in statements { database.run(statement) }
        }
        try daemon.restart()
        peers = try peers.map { _ in try SequencePeer(daemon.socketPath) }
        prober = try SequencePeer(daemon.socketPath)
    }

    private func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(daemon.processID)/statm", encoding: .utf8)
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    // MARK: One call

    /// Makes a call, and asks for the state on another connection meanwhile.
    ///
    /// - Returns: The result; `nil` if it was refused.
    private func perform(_ call: MethodCall, by client: Int) throws -> JSONObject? {
        script.calls.append(call)
        number += 2
        let passed = call.passed?.open() ?? []
        descriptors += passed
        let began = ContinuousClock.now
        try expect(prober.send(number + 1, "vault.status", [:]), "the daemon has ended before \(call)")
        guard peers[client].send(number, call.method, call.params, call.payload, passing: passed.first) else {
            throw try broken(call)
        }
        var isProbed = false
        var answer: Answer?
        var isCanceled = false
        while answer == nil || !isProbed {
            var wanted = [peers[client], prober].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            let milliseconds = isCanceled ? Int32(Self.answerSeconds * 1000) : Self.patienceMilliseconds
            if poll(&wanted, 2, milliseconds) <= 0 {
                try expect(!isCanceled, "no answer within \(Self.answerSeconds) s to \(call)")
                isCanceled = true
                _ = peers[client].send(number - 1_000_000, "request.cancel", ["request": .integer(Int64(number))])
                continue
            }
            if wanted[0].revents != 0 {
                guard let answers = try peers[client].receive() else { throw try broken(call) }
                answer = answers.first { $0.request == number } ?? answer
            }
            if wanted[1].revents != 0 {
                guard let answers = try prober.receive() else { throw try broken(call) }
                isProbed = isProbed || answers.contains { $0.request == number + 1 }
                let seconds = (ContinuousClock.now - began) / .seconds(1)
                try expect(
                    !isProbed || answer != nil || seconds < Self.probeSeconds,
                    "\(seconds) s of 'vault.status' at \(call)"
                )
            }
        }
        guard let refusal = answer?.refusal else {
            doneCount += 1
            return answer?.result
        }
        try expect(refusal.code != .internal, "an internal error: \(refusal.message): \(call)")
        return nil
    }

    private func broken(_ call: MethodCall) throws -> Fault {
        // The daemon ends after its connections.
        for _ in 0..<200 where daemon.ending == nil { usleep(10_000) }
        try daemon.expectAlive()
        return Fault("the daemon has closed the connection at \(call)")
    }
}
