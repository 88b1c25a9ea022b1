import CofferCore
import CofferSystem
import CofferWire
import Foundation

/// The time from the start of a daemon to its first answer, compared with ssh-agent, and the sizes of the
/// programs.
enum StartBenchmark: Benchmark {
    static let name = "start"

    static func run(_ setting: Setting) throws {
        let (sizes, rounds): ([Int], Int) =
            switch setting.effort {
            case .check: ([10], 1)
            case .quick: ([10, 10_000], 50)
            case .full: ([10, 10_000, 1_000_000], 200)
            }
        var starts: [Start] = FileManager.default.isExecutableFile(atPath: Start.agentPath) ? [.agent(setting)] : []
        let hasAgent = !starts.isEmpty
        for items in sizes {
            tell("making a vault of \(items.grouped) items ...")
            let daemon = try BenchmarkDaemon(setting, "vault-\(items)")
            try daemon.makeVault(items: items)
            daemon.stop()
            starts.append(.daemon(setting, of: daemon.statePath, items: items))
        }
        tell("starting (\(rounds) rounds) ...")
        var samples = starts.map { _ in Samples() }
        try interleave(rounds: rounds, starts.count) { index, counts in
            let taken = try starts[index].measure()
            if counts { samples[index].add(taken) }
        }

        print("From the start of the process to its first answer; files are in the page cache:\n")
        var table = Table(["daemon", "median", "spread", "to ssh-agent"])
        for (index, start) in starts.enumerated() {
            let ratio = samples[index].ratios(to: samples[0]).median
            start.keep(samples[index], toAgent: hasAgent ? samples[0] : nil, toFewest: samples[hasAgent ? 1 : 0])
            table.add([
                start.name, samples[index].median.asTime, samples[index].spread.asPercent,
                hasAgent && index > 0 ? ratio.formatted(2) : "",
            ])
        }
        table.printOut()
        if !hasAgent { print("\nssh-agent is not installed: not compared") }
        try printSizes(setting)
    }

    /// Prints the sizes of the programs without symbols, as they are installed.
    private static func printSizes(_ setting: Setting) throws {
        print("\nSizes, stripped:\n")
        var table = Table(["program", "MiB"])
        let beside = URL(filePath: setting.daemonPath).deletingLastPathComponent().appending(path: "coffer").path
        for path in [setting.daemonPath, beside, Start.agentPath] where FileManager.default.fileExists(atPath: path) {
            let stripped = "\(setting.directory)/stripped"
            let strip = try Process.run(URL(filePath: "/usr/bin/strip"), arguments: ["-o", stripped, path])
            strip.waitUntilExit()
            let size = try FileManager.default.attributesOfItem(atPath: stripped)[.size] as? Int ?? 0
            table.add([URL(filePath: path).lastPathComponent, (Double(size) / 1048576).formatted(1)])
        }
        table.printOut()
    }
}

/// A daemon that is started, sent one request, and stopped.
private struct Start {
    static let agentPath = "/usr/bin/ssh-agent"

    let name: String
    /// The number of items; `nil` for ssh-agent.
    let items: Int?
    let arguments: [String]
    let socketPath: String
    let request: [UInt8]

    func keep(_ samples: Samples, toAgent agent: Samples?, toFewest fewest: Samples) {
        Figures.keep("start", of: items == nil ? .agent : .coffer, items: items, .time(samples))
        guard items != nil else { return }
        if let agent { Figures.keep("start to ssh-agent", items: items, .ratio(samples.ratios(to: agent))) }
        Figures.keep("start to that at 10 items", items: items, .ratio(samples.ratios(to: fewest)))
    }

    static func agent(_ setting: Setting) -> Start {
        let path = "\(setting.directory)/agent.socket"
        // SSH_AGENTC_REQUEST_IDENTITIES
        return Start(
            name: "ssh-agent",
            items: nil,
            arguments: [agentPath, "-D", "-a", path],
            socketPath: path,
            request: [0, 0, 0, 1, 11]
        )
    }

    static func daemon(_ setting: Setting, of statePath: String, items: Int) -> Start {
        let path = "\(setting.directory)/start.socket"
        return Start(
            name: "cofferd, \(items.grouped) items",
            items: items,
            arguments: [setting.daemonPath, "--socket", path, "--state", statePath],
            socketPath: path,
            request: BenchmarkConnection.frame("vault.status", [:], [])
        )
    }

    /// The time from the start to the first bytes of the answer, in milliseconds.
    func measure() throws -> Double {
        try? FileManager.default.removeItem(atPath: socketPath)
        var process: pid_t = 0
        defer {
            if process > 0 {
                kill(process, SIGKILL)
                waitpid(process, nil, 0)
            }
        }
        return try milliseconds {
            process = try spawn()
            let socket = try connection(to: process)
            var sent = 0
            while sent < request.count {
                sent += try socket.send(unsafe request.span.bytes.extracting(droppingFirst: sent)) ?? 0
            }
            var answer = [UInt8](repeating: 0, count: 8)
            let count = unsafe try answer.withUnsafeMutableBytes { unsafe try socket.read(into: $0) }
            if count == 0 { throw CofferError(.notAvailable, "\(name) closed the connection") }
        }
    }

    private func spawn() throws -> pid_t {
        var process: pid_t = 0
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for stream: Int32 in 0...2 {
            unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
        }
        let code = unsafe posix_spawn(&process, arguments[0], &actions, nil, &words, &environment)
        if code != 0 { throw SystemError("posix_spawn", code: code) }
        return process
    }

    /// Connects as soon as the daemon listens.
    private func connection(to process: pid_t) throws -> OwnedDescriptor {
        while true {
            if let socket = try? UnixSocket.connect(to: socketPath) { return socket }
            if waitpid(process, nil, WNOHANG) != 0 { throw CofferError(.notAvailable, "\(name) did not come up") }
            usleep(20)
        }
    }
}
