import CofferCore
import CofferWire
import Foundation

/// The real daemon on its own vault, or the baseline that it is compared with.
final class BenchmarkDaemon {
    let statePath: String
    let socketPath: String
    private let process = Process()

    /// Starts a daemon and waits until it listens.
    ///
    /// - Parameters:
    ///   - setting: The daemon and the directory.
    ///   - name: The name of its files; an existing vault of that name is used.
    ///   - options: Further options.
    ///   - isAlone: Whether the daemon and this process each get a core, for operations that are shorter than
    ///     a migration between cores. It increases the spread on a busy machine.
    init(_ setting: Setting, _ name: String, options: [String] = [], isAlone: Bool = false) throws {
        statePath = "\(setting.directory)/\(name)"
        socketPath = "\(setting.directory)/\(name).socket"
        try start(
            (isAlone ? Cores.daemonsAlone : []) + Self.endingWithUs
                + [setting.daemonPath, "--socket", socketPath, "--state", statePath] + options
        )
    }

    /// Starts a baseline daemon, which is this program with another argument.
    ///
    /// - Parameters:
    ///   - side: Which one.
    ///   - databasePath: Its database, made by `floor_fill`.
    init(_ side: KeychainSide, of databasePath: String) throws {
        statePath = databasePath
        socketPath = "\(databasePath).socket"
        let ourselves = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        try start(Self.endingWithUs + [ourselves, side.rawValue, databasePath, socketPath])
    }

    /// Makes daemons end with this process, even after a crash.
    static let endingWithUs = ["setpriv", "--pdeathsig", "KILL"]

    private func start(_ arguments: [String]) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        try process.run()
        for _ in 0..<1000 {
            if (try? BenchmarkConnection(to: socketPath)) != nil { return }
            usleep(10_000)
        }
        throw CofferError(.notAvailable, "no daemon came up at \(quotedForDisplay(socketPath))")
    }

    func connect() throws -> BenchmarkConnection { try BenchmarkConnection(to: socketPath) }

    var processID: Int32 { process.processIdentifier }

    /// The processor time of the daemon since its start, in milliseconds.
    var processorTime: Double {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(processID, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
            return .nan
        }
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    /// The memory of the daemon.
    ///
    /// It includes libraries and the pages of the C library that are shared with other processes.
    func memory() throws -> Memory { try Memory(of: processID) }

    /// Resets the kernel's record of the peak, if it permits that: the daemon is protected from other
    /// processes.
    func forgetMostMemory() {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/\(processID)/clear_refs"))
    }

    /// Stops the daemon in order.
    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// The memory of a process in KiB.
struct Memory {
    let resident: Int
    /// The peak.
    let most: Int
}

extension Memory {
    /// Asks the kernel.
    init(of processID: Int32) throws {
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        func kibibytes(_ name: String) throws -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
            guard let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first, let count = Int(number)
            else { throw CofferError(.internal, "the kernel says nothing about '\(name)'") }
            return count
        }
        self.init(resident: try kibibytes("VmRSS"), most: try kibibytes("VmHWM"))
    }
}

/// The assignment of cores.
///
/// A client that wakes up on the daemon's core waits until the daemon has done all of its work, and would
/// measure that.
private enum Cores {
    /// Pins daemons to the first core, so that this process has the second; empty if there is only one.
    static let daemonsAlone: [String] = {
        let pinning = Process()
        pinning.executableURL = URL(filePath: "/usr/bin/env")
        pinning.arguments = ["taskset", "--cpu-list", "--pid", "1", "\(getpid())"]
        pinning.standardOutput = FileHandle.nullDevice
        pinning.standardError = FileHandle.nullDevice
        guard (try? pinning.run()) != nil else { return [] }
        pinning.waitUntilExit()
        return pinning.terminationStatus == 0 ? ["taskset", "--cpu-list", "0"] : []
    }()
}

extension BenchmarkDaemon {
    static let passcode = Array("correct horse battery staple".utf8)

    /// The number of connections that fill a vault.
    ///
    /// The puts of one connection are executed one after another, and each waits for the commit of its turn:
    /// more connections share a commit among more puts.
    static let fillingConnections = 2000
    private static let windowPuts = 4
    /// The interval of files among the items, and their maximum number.
    private static let itemsPerFile = 5
    private static let mostFiles = 100

    /// Makes an unlocked vault with small secrets and a few files, all of them readable after the first
    /// unlock.
    ///
    /// The secrets are named `s/0`, `s/1` and so on, the files `f/0`, `f/1` and so on.
    ///
    /// - Parameter itemCount: The total number of items.
    /// - Returns: The time for the items in milliseconds.
    @discardableResult func makeVault(items itemCount: Int) throws -> Double {
        try connect().call("vault.init", ["kdf": "interactive"], payload: Self.passcode)
        let fileCount = min(itemCount / Self.itemsPerFile, Self.mostFiles)
        let secretCount = itemCount - fileCount
        let files = (0..<fileCount).map { number in
            BenchmarkConnection.frame(
                "item.put",
                [
                    "name": .string("f/\(number)"), "protection": "completeUntilFirstUserAuthentication",
                    "store": "file",
                ],
                [UInt8](repeating: 7, count: 1000)
            )
        }
        return try milliseconds {
            try pipeline(secretCount) { number in
                BenchmarkConnection.frame(
                    "item.put",
                    ["name": .string("s/\(number)"), "accessible": "AfterFirstUnlock"],
                    Array("a secret of a usual length, \(number)".utf8)
                )
            }
            try pipeline(fileCount) { files[$0] }
        }
    }

    /// Pipelines requests over many connections: the next window is in flight while the daemon works on one.
    private func pipeline(_ count: Int, _ request: (Int) -> [UInt8]) throws {
        let needed = min(Self.fillingConnections, (count + Self.windowPuts - 1) / Self.windowPuts)
        let connections = try (0..<needed).map { _ in try connect() }
        var next = 0
        var awaited: [Int] = []
        while next < count || !awaited.isEmpty {
            var sent: [Int] = []
            for connection in connections where next < count {
                let window = next..<min(next + Self.windowPuts, count)
                try connection.send(window.flatMap(request))
                sent.append(window.count)
                next = window.upperBound
            }
            for (connection, answers) in zip(connections, awaited) {
                for _ in 0..<answers { _ = try connection.answer() }
            }
            awaited = sent
        }
    }
}
