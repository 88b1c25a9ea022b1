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
        let template = try MethodVault { try launcher(preload, in: $0) }
        let tally = MethodTally()
        // The kept ones come first, and count as no cases.
        for (name, script) in try MethodScript.kept() {
            do {
                try MethodRun(script.scene, template, preload, tally).play(script)
            } catch {
                report.add("\(name): \(inWords(error))")
            }
        }
        let rpc = try OpenRPC()
        for number in report.cases {
            report.attempt(number) {
                var random = report.generator(of: number)
                let scene = MethodScene.allCases[number % MethodScene.allCases.count]
                let run = try MethodRun(scene, template, preload, tally)
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
        for line in tally.lines(rpc) { print(line) }
    }

    private static func keep(_ script: MethodScript, at path: String) throws {
        let folder = URL(filePath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(script.text.utf8).write(to: URL(filePath: path))
    }

    /// Starts a daemon whose key derivation is quick, and whose files can't fill the disk.
    static func launcher(_ preload: Preload, in directory: TemporaryDirectory) throws -> [String] {
        let control = try Control(in: directory)
        let limit = "--fsize=\(64 << 20)"
        let statePath = directory.appending("state")
        return ["/usr/bin/prlimit", limit] + preload.launcher(statePath: statePath, control, isQuick: true)
    }
}

/// The calls to one vault.
final class MethodRun {
    private let directory: TemporaryDirectory
    private let daemon: DaemonProcess
    private let template: MethodVault
    private let tally: MethodTally
    /// Two clients that call, and one that looks whether the daemon answers.
    private var peers: [SequencePeer]
    private var prober: SequencePeer
    private(set) var script: MethodScript
    private(set) var doneCount = 0
    private var number = 0
    /// What has to stay open as long as the call.
    private var descriptors: [Int32] = []

    private static let callCount = 150
    /// How many calls there are from one return to the state to the next.
    private static let stayCount = 25
    private static let answerSeconds = 60
    /// How long a client may be kept waiting by another one, on a busy machine.
    private static let probeSeconds: Double = 20
    private static let patienceMilliseconds: Int32 = 3000
    private static let memoryBytes = 256 << 20

    init(_ scene: MethodScene, _ template: MethodVault, _ preload: Preload, _ tally: MethodTally) throws {
        (self.template, self.tally) = (template, tally)
        script = MethodScript(scene)
        directory = scene == .noVault ? try TemporaryDirectory() : try copyState(template.statePath)
        let launcher = try MethodsCampaign.launcher(preload, in: directory)
        let arguments = scene == .lockedExpired ? ["--inactive-after", "0"] : []
        daemon = try DaemonProcess(in: directory, arguments, launchedBy: launcher)
        peers = []
        prober = try SequencePeer(daemon.socketPath)
        try connect()
    }

    private func connect() throws {
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
        // What is kept of a run by chance has the way into the state.
        if !kept.bringsItself { try bring() }
        for call in kept.calls { _ = try perform(call) }
        try end()
    }

    /// Plays calls by chance.
    func playByChance(_ rpc: OpenRPC, _ random: inout Generator) throws {
        var maker = ValueMaker(rpc, Generator(seed: random.next()))
        script.bringsItself = true
        try damage(try statements(&random))
        for step in 0..<Self.callCount {
            // A lock, an erasure or a change of the passcode would be the end of a state otherwise.
            if step % Self.stayCount == 0 {
                maker.forget()
                for (result, client) in try bring() { maker.learn(result, by: client) }
            }
            let call = try maker.call(by: peers.count)
            if let result = try perform(call) { maker.learn(result, by: call.client) }
        }
        let bytes = try residentBytes()
        try expect(bytes < Self.memoryBytes, "the daemon has \(bytes >> 20) MiB of memory")
        try end()
    }

    /// Brings the vault into the state, with another copy of it if there is no other way.
    ///
    /// - Returns: The results of the calls that lead there, each with its connection.
    @discardableResult private func bring() throws -> [(JSONObject, Int)] {
        if script.scene == .beforeFirstUnlock { _ = try perform(MethodCall(.restart)) }
        var results: [(JSONObject, Int)] = []
        if try isBrought(&results) { return results }
        _ = try perform(MethodCall(.renew))
        results = []
        let isThere = try isBrought(&results)
        try expect(isThere, "the vault does not come into the state \(script.scene)")
        return results
    }

    /// Makes the calls that lead to the state.
    ///
    /// - Returns: Whether they have led there.
    private func isBrought(_ results: inout [(JSONObject, Int)]) throws -> Bool {
        for call in script.scene.way { if let result = try perform(call) { results.append((result, call.client)) } }
        let state = try perform(MethodCall("vault.status"))?["state"]?.stringValue
        // A damaged vault may not open.
        return script.scene.isDamaged ? state != "noVault" : state == script.scene.state
    }

    private func end() throws {
        try daemon.expectAlive()
        let code = daemon.stop()
        try expect(code == 0, "the daemon has ended with \(code)")
    }

    // MARK: Damage

    /// Impossible values in some rows, or in whole columns.
    private func statements(_ random: inout Generator) throws -> [String] {
        guard script.scene.isDamaged else { return [] }
        let columns = try RawDatabase(template.statePath + "/vault.sqlite").columns()
            .filter { !["schema_migrations", "catalog_settings"].contains($0.table) }
        let count = 1 + random.below(6)
        var statements = (0..<count).map { _ in
            let column = random.pick(columns.filter { script.scene == .damaged || $0.type == "INTEGER" })
            let value = random.pick(RowsCampaign.Value.all.filter { $0.fits(column) })
            return value.statement(in: column, offset: script.scene == .damaged ? random.below(20) : nil)
        }
        if random.chance(0.3) { statements.append("\(Self.contentsWord)\(random.below(70_000))") }
        return statements
    }

    /// What begins the word for a byte that is flipped in each content.
    private static let contentsWord = "contents "

    private func damage(_ statements: [String]) throws {
        script.damage = statements
        if statements.isEmpty { return }
        daemon.stop()
        try applyDamage()
        try daemon.restart()
        try connect()
    }

    private func applyDamage() throws {
        if script.damage.isEmpty { return }
        let database = try RawDatabase(daemon.statePath + "/vault.sqlite")
        for statement in script.damage {
            guard statement.hasPrefix(Self.contentsWord) else {
                // A script of another schema would damage nothing.
                try expect(database.understands(statement), "of another schema: \(statement)")
                database.run(statement)
                continue
            }
            let offset = Int(statement.dropFirst(Self.contentsWord.count)) ?? 0
            for name in try filePaths(in: daemon.statePath + "/blobs") {
                let path = "\(daemon.statePath)/blobs/\(name)"
                guard var bytes = FileManager.default.contents(atPath: path), !bytes.isEmpty else { continue }
                bytes[offset % bytes.count] ^= 1
                try bytes.write(to: URL(filePath: path))
            }
        }
    }

    /// Starts the daemon again: on the vault as it is, or as it was at first.
    private func restart(renewing isRenewing: Bool) throws {
        try end()
        if isRenewing {
            try? FileManager.default.removeItem(atPath: daemon.statePath)
            if script.scene != .noVault {
                try FileManager.default.copyItem(atPath: template.statePath, toPath: daemon.statePath)
                try applyDamage()
            }
        }
        try daemon.restart()
        try connect()
    }

    private func residentBytes() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(daemon.processID)/statm", encoding: .utf8)
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    // MARK: One call

    /// Makes a call, and asks for the state on another connection meanwhile.
    ///
    /// - Returns: The result; `nil` if it was refused.
    private func perform(_ call: MethodCall) throws -> JSONObject? {
        script.calls.append(call)
        if let change = call.change {
            try restart(renewing: change == .renew)
            return nil
        }
        let client = call.client
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
        guard let answer else { return nil }
        tally.add(call.method, script.scene, answer.refusal?.code)
        let outcome: Result<JSONValue, CofferError> =
            answer.refusal.map { .failure($0) } ?? .success(.object(answer.result))
        if let method = CofferWire.Method(rawValue: call.method) {
            do { try AnswerCheck.check(outcome, to: method) } catch {
                throw Fault("\(error.message): \(call)")
            }
        }
        guard let refusal = answer.refusal else {
            doneCount += 1
            return answer.result
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
