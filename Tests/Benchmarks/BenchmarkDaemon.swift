import CofferCore
import CofferWire
import Foundation

/// The real daemon on a vault of its own, or the floor that it is compared with.
final class BenchmarkDaemon {
    let statePath: String
    let socketPath: String
    private let process = Process()

    /// Starts a daemon and waits until it listens.
    ///
    /// - Parameters:
    ///   - setting: Which daemon, and where.
    ///   - name: What its files are called; a vault of that name is gone on with.
    ///   - options: Further options.
    ///   - isAlone: Whether it gets a core of its own, and we another: for what is over sooner than a core is changed. It
    ///     costs evenness on a busy machine.
    init(_ setting: Setting, _ name: String, options: [String] = [], isAlone: Bool = false) throws {
        statePath = "\(setting.directory)/\(name)"
        socketPath = "\(setting.directory)/\(name).socket"
        try start(
            (isAlone ? Cores.daemonsAlone : []) + Self.endingWithUs
                + [setting.daemonPath, "--socket", socketPath, "--state", statePath] + options
        )
    }

    /// Starts a floor: this program again, by another word.
    ///
    /// - Parameters:
    ///   - databasePath: What it serves, made by `floor_fill`.
    ///   - setting: Where.
    ///   - name: What its socket is called.
    init(floorOf databasePath: String, _ setting: Setting, _ name: String) throws {
        statePath = databasePath
        socketPath = "\(setting.directory)/\(name).socket"
        let ourselves = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        try start(Self.endingWithUs + [ourselves, Benchmarks.floorName, databasePath, socketPath])
    }

    /// However we end, what is started with this ends with us.
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

    /// What the daemon has in memory.
    ///
    /// Its libraries are in it, and the pages of the C library that it shares with others.
    func memory() throws -> Memory {
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        func kibibytes(_ name: String) throws -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
            guard let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first, let count = Int(number)
            else { throw CofferError(.internal, "the kernel says nothing about '\(name)'") }
            return count
        }
        return Memory(resident: try kibibytes("VmRSS"), most: try kibibytes("VmHWM"))
    }

    /// Has the kernel count the most from now on, if it lets us: the daemon is not ours to look into for everybody.
    func forgetMostMemory() {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/\(processID)/clear_refs"))
    }

    /// Ends the daemon in good order.
    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}

/// What a process has in memory, in KiB.
struct Memory {
    let resident: Int
    /// The most that it was.
    let most: Int
}

/// Who runs where.
///
/// A client that is woken on the daemon's core waits until the daemon has done all of its work, and so measures that.
private enum Cores {
    /// What daemons are started with, so that the second core is ours; nothing where there is no second one.
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

    /// The connections that a vault is filled over.
    ///
    /// A connection's puts are carried out one after the other, and each of them waits for the commit of its turn: the
    /// more connections, the more puts share a commit.
    static let fillingConnections = 2000
    private static let windowPuts = 4
    /// One item in so many is a file, up to so many files.
    private static let itemsPerFile = 5
    private static let mostFiles = 100

    /// Makes an unlocked vault of small secrets and a few files, all of them readable after the first unlock.
    ///
    /// The secrets are called `s/0`, `s/1` and so on, the files `f/0`, `f/1` and so on.
    ///
    /// - Parameter itemCount: How many there are in all.
    /// - Returns: How long the items took, in milliseconds.
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

    /// Sends requests ahead over many connections: while the daemon works on a window, the next one is on its way.
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
