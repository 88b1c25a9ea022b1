import CBenchmarks
import CofferCore
import Foundation

/// A bus of its own, which starts no programs.
final class PrivateBus {
    /// The variables of programs on it, whose home is the directory of the bus.
    let environment: [String: String]
    private let process = Process()

    /// Whether this machine has one, and libsecret.
    static var isInstalled: Bool { Command.path(of: "dbus-daemon") != nil && keyring_load() != 0 }

    /// Starts a bus.
    ///
    /// - Parameter home: A directory, which is made.
    init(_ home: String) throws {
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home)
        let configuration = """
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(home)/bus</listen>
              <auth>EXTERNAL</auth>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        try Data(configuration.utf8).write(to: URL(filePath: "\(home)/bus.conf"))
        environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": home, "XDG_DATA_HOME": home,
            "XDG_RUNTIME_DIR": home, "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(home)/bus",
        ]
        try process.start(["dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(home)/bus.conf"], environment)
        for _ in 0..<500 {
            if FileManager.default.fileExists(atPath: "\(home)/bus") { return }
            usleep(10_000)
        }
        throw CofferError(.notAvailable, "no bus came up")
    }

    deinit { process.stop() }
}

extension Process {
    /// Starts a program that says nothing, and ends with this one.
    func start(_ command: [String], _ environment: [String: String]) throws {
        executableURL = URL(filePath: "/usr/bin/env")
        arguments = BenchmarkDaemon.endingWithUs + command
        self.environment = environment
        if standardInput == nil { standardInput = FileHandle.nullDevice }
        if standardOutput == nil { standardOutput = FileHandle.nullDevice }
        standardError = FileHandle.nullDevice
        try run()
    }

    /// Ends it, and waits for that.
    func stop() {
        // Foundation traps when a process that was never started is terminated, as after a failed start.
        guard isRunning else { return }
        terminate()
        waitUntilExit()
    }
}

/// A program that uses libsecret on a bus: this program again, because GLib has one session bus in a process.
final class LibsecretClient {
    /// The first argument of that program.
    static let name = "libsecret"

    private let process = Process()
    private let requests = Pipe()
    private let answers = Pipe()

    /// Starts a client, and waits until a service answers it.
    init(on bus: PrivateBus) throws {
        let ourselves = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.standardInput = requests
        process.standardOutput = answers
        try process.start([ourselves, Self.name], bus.environment)
        for _ in 0..<12000 {
            do {
                _ = try lookUp(1, among: 1, seed: 0)
                return
            } catch let error as CofferError where error.message.hasSuffix(Self.answeredMark) { return } catch {
                usleep(10_000)
            }
        }
        throw CofferError(.notAvailable, "no Secret Service answers")
    }

    /// The end of the message by which a service says that it does not have an item.
    private static let answeredMark = "it does not have it"

    deinit { process.stop() }

    private enum Operation: String { case store, lookUp, clear }

    /// Stores items, and returns the time of each in milliseconds.
    func store(_ range: Range<Int>) throws -> Samples { try ask(.store, range.lowerBound, range.count) }

    func clear(_ range: Range<Int>) throws -> Samples { try ask(.clear, range.lowerBound, range.count) }

    /// Looks up items at random among the first ones.
    func lookUp(_ count: Int, among items: Int, seed: Int) throws -> Samples {
        try ask(.lookUp, items, count, seed)
    }

    private func ask(_ operation: Operation, _ numbers: Int...) throws -> Samples {
        let line = "\(operation.rawValue) \(numbers.map(String.init).joined(separator: " "))\n"
        try requests.fileHandleForWriting.write(contentsOf: Data(line.utf8))
        var answer = Data()
        while answer.last != UInt8(ascii: "\n") {
            let part = answers.fileHandleForReading.availableData
            guard !part.isEmpty else { throw CofferError(.internal, "the client of libsecret has ended") }
            answer += part
        }
        let text = String(decoding: answer.dropLast(), as: UTF8.self)
        var samples = Samples()
        for word in text.split(separator: " ") {
            guard let time = UInt64(word) else { throw CofferError(.internal, text) }
            samples.add(Double(time) / 1e6)
        }
        return samples
    }

    // MARK: The other end

    /// Carries out what is asked for on standard input, until it ends.
    static func serve() {
        guard keyring_load() != 0 else { return }
        while let line = readLine() {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { UInt64($0) }
            guard let operation = words.first.flatMap({ Operation(rawValue: String($0)) }), numbers.count >= 2 else {
                return
            }
            FileHandle.standardOutput.write(Data("\(answer(operation, numbers))\n".utf8))
        }
    }

    private static func answer(_ operation: Operation, _ numbers: [UInt64]) -> String {
        var times = [UInt64](repeating: 0, count: Int(numbers[1]))
        let trouble = unsafe times.withUnsafeMutableBufferPointer { buffer -> String? in
            guard let start = buffer.baseAddress else { return nil }
            let trouble =
                switch operation {
                case .store: unsafe keyring_store(numbers[0], numbers[1], start)
                case .clear: unsafe keyring_clear(numbers[0], numbers[1], start)
                case .lookUp: unsafe keyring_look_up(numbers[0], numbers[1], (numbers.last ?? 0) << 32, start)
                }
            return unsafe trouble.map { unsafe String(cString: $0) }
        }
        return trouble ?? times.map(String.init).joined(separator: " ")
    }
}
