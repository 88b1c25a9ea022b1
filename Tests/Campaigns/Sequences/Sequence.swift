import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation

/// One sequence: three clients, their daemon, and the possible states of its vault.
final class Sequence {
    private let directory: TemporaryDirectory
    private let control: Control
    private let daemon: DaemonProcess
    private var random: Generator
    private var peers: [SequencePeer] = []
    private var models: Set<VaultModel> = [VaultModel(.beforeFirstUnlock)]
    /// The open files, by the requests that opened them.
    private var files: [Int: OpenFile] = [:]
    /// The requests that wait for another client, by their clients.
    private var waiting: [Int: SentRequest] = [:]
    private(set) var requestCount = 0
    private var clock = 0
    /// A log of the rounds, for the report of a fault.
    private(set) var rounds: [String] = []

    private static let clientCount = 3
    private static let roundCount = 9
    private static let answerSeconds = 30

    init(_ random: Generator, _ preload: Preload, vault: String) throws {
        self.random = random
        directory = try copyState(vault + "/state")
        control = try Control(in: directory)
        daemon = try DaemonProcess(
            in: directory,
            launchedBy: preload.launcher(statePath: directory.appending("state"), control, isQuick: true)
        )
        try connect()
    }

    private func connect() throws {
        peers = try (0..<Self.clientCount).map { _ in try SequencePeer(daemon.socketPath) }
    }

    /// Runs the sequence.
    func run() throws {
        try round([[.unlock], [], []])
        for _ in 0..<Self.roundCount { try round() }
        try finish()
    }

    /// Ends all waiting requests, and compares the whole vault.
    private func finish() throws {
        repeat {
            try round(scripts { waiting[$0] == nil ? files(of: $0).map { .close($0) } : [] })
            try endOneWait()
        } while !waiting.isEmpty || !files.isEmpty
        try round([[.status], [], []])
        try round([[models.contains { $0.state == .noVault } ? .initialize : .unlock], [], []])
        let names = Planner.names
        try round(scripts { $0 == 0 ? names.map { .get($0, from: nil) } + [.list, .status] : [] })
        let findings = try daemon.connectUnchecked().checkAll()
        try expect(findings.isEmpty, "the vault's check finds \(findings)")
    }

    /// Ends one of the waits, if all clients with open files wait.
    private func endOneWait() throws {
        guard !waiting.isEmpty, files.values.allSatisfy({ waiting[$0.client] != nil }) else { return }
        // Clients with open files may wait for each other, where only a cancel helps. Without any, one is served next.
        if let client = files.values.map(\.client).min(), let request = waiting[client] {
            try round(scripts { $0 == client ? [.cancel(request.number)] : [] })
        } else {
            try round(scripts { _ in [] }, until: .one)
        }
    }

    private func scripts(_ script: (Int) -> [Operation]) -> [[Operation]] { (0..<Self.clientCount).map(script) }

    private func files(of client: Int) -> [Int] { files.filter { $0.value.client == client }.keys.sorted() }

    // MARK: Rounds

    private func round() throws {
        if random.chance(0.06) { return try stop() }
        let isFull = random.chance(0.08)
        var planner = Planner(random, models.first ?? VaultModel(.unlocked), files)
        let plan = scripts { client in
            waiting[client].map { planner.cancels() ? [.cancel($0.number)] : [] }
                ?? planner.script(of: client)
        }
        random = planner.random
        if isFull { control.fail(.write, 1 + random.below(25), with: ENOSPC, isLasting: true) }
        defer { control.endFailing() }
        try round(plan, until: random.chance(0.07) ? .answers(random.below(4)) : .all, isFull: isFull)
    }

    /// Stops the daemon in order, and starts it again.
    private func stop() throws {
        rounds.append("stop")
        let code = daemon.stop()
        try expect(code == 0, "the daemon has ended with \(code)")
        try restart()
    }

    private func restart() throws {
        control.endFailing()
        (files, waiting) = ([:], [:])
        models = Set(models.map { $0.restarted() })
        try daemon.restart()
        try connect()
    }

    /// The end of a round.
    private enum End: Equatable {
        /// After all answers that do not depend on another client.
        case all
        /// After any answer.
        case one
        /// With a kill, after a number of answers.
        case answers(Int)
    }

    private func round(_ plan: [[Operation]], until end: End = .all, isFull: Bool = false) throws {
        let depths = plan.map { _ in 1 + random.below(3) }
        var exchange = Exchange(peers, plan, waiting, from: requestCount, at: clock, depths: depths)
        let isCut = if case .answers = end { true } else { false }
        while try exchange.send(files) {
            if case .answers(let count) = end, exchange.answeredCount >= count { break }
            if end == .one ? exchange.answeredCount > 0 : exchange.isSettled { break }
            try exchange.receive(within: Self.answerSeconds)
        }
        if isCut {
            daemon.kill()
            exchange.drain()
        } else {
            try daemon.expectAlive()
        }
        (requestCount, clock) = (exchange.nextNumber, exchange.clock)
        rounds.append((isCut ? "kill: " : isFull ? "full: " : "") + "\(exchange.requests), from \(models.count) states")
        try explain(exchange, isFull: isFull, isCut: isCut)
        if isCut { try restart() }
    }

    private func explain(_ exchange: Exchange, isFull: Bool, isCut: Bool) throws {
        let disturbance = Disturbance(exchange.requests, isFull: isFull)
        for request in exchange.requests { request.meet(disturbance) }
        models = try Explanation.states(from: models, exchange.requests, isCut: isCut)
        waiting = [:]
        for request in exchange.requests {
            if request.answer == nil { waiting[request.client] = request }
            take(request)
        }
    }

    /// Updates the open files after an answer.
    private func take(_ request: SentRequest) {
        guard let answer = request.answer else { return }
        // It is closed or unknown now; after another error it stays open.
        if case .close(let number) = request.operation, [nil, .param, .notAvailable].contains(answer.refusal?.code) {
            files[number] = nil
        }
        if answer.refusal != nil { return }
        switch request.operation {
        case .open(let name, let opening):
            guard let wire = answer.result["handle"]?.integerValue else { return }
            files[request.number] = OpenFile(
                client: request.client,
                wire: wire,
                name: name,
                isWriting: opening.isWriting
            )
        case .erase: files = [:]
        default: return
        }
    }
}

/// An open file of a client.
struct OpenFile {
    let client: Int
    /// The daemon's number of the handle.
    let wire: Int64
    let name: String
    let isWriting: Bool
}
