import CofferSystem
import CofferTestSupport
import Foundation

/// The programs of this build, run as a user runs them.
enum Programs {
    /// What a program did.
    struct Outcome {
        let status: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Where this build has its programs: beside the tests.
    static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    static func program(_ name: String) -> URL {
        // The tests run in a program of the package's, or in a helper of the toolchain's that loads them.
        let beside = folder.appending(path: name)
        if FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
        return Page.root.appending(path: ".build/debug/\(name)")
    }

    /// Runs a program to its end.
    static func run(_ program: URL, _ arguments: [String], input: Data = Data()) throws -> Outcome {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let files = try Files(input)
        process.standardInput = try FileHandle(forReadingFrom: files.input)
        process.standardOutput = try FileHandle(forWritingTo: files.output)
        process.standardError = try FileHandle(forWritingTo: files.errors)
        try process.run()
        process.waitUntilExit()
        defer { files.remove() }
        return Outcome(
            status: process.terminationStatus,
            output: try Data(contentsOf: files.output),
            errors: try String(contentsOf: files.errors, encoding: .utf8)
        )
    }

    /// Files rather than pipes: nothing has to be read while the program runs.
    private struct Files {
        let folder = FileManager.default.temporaryDirectory.appending(path: "coffer-documents-\(UUID().uuidString)")
        var input: URL { folder.appending(path: "input") }
        var output: URL { folder.appending(path: "output") }
        var errors: URL { folder.appending(path: "errors") }

        init(_ content: Data) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try content.write(to: input)
            try Data().write(to: output)
            try Data().write(to: errors)
        }

        func remove() { try? FileManager.default.removeItem(at: folder) }
    }
}

/// A daemon on a vault of its own, which ends with the value.
final class ExampleDaemon {
    let folder = URL(filePath: "/tmp/coffer-documents-\(UUID().uuidString.prefix(8))")
    var socket: String { folder.appending(path: "s").path }
    var state: URL { folder.appending(path: "state") }
    private let process = Process()

    /// - Parameter options: Options of the daemon. What depends on the machine is as on one with a seat.
    init(_ options: [String] = []) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        process.executableURL = Programs.program("cofferd")
        process.arguments = ["--socket", socket, "--state", state.path, "--lock-after", "0"] + options
        // With our streams, a daemon that a crash of the tests left over would keep their runner waiting.
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        _ = settles { isListening }
    }

    /// Whether a daemon listens: the file exists a moment earlier.
    private var isListening: Bool {
        do {
            _ = try UnixSocket.connect(to: socket)
            return true
        } catch {
            return false
        }
    }

    /// Runs `coffer` against this daemon.
    func coffer(_ arguments: [String], input: Data = Data()) throws -> Programs.Outcome {
        let connection = ["--socket", socket, "--no-start"]
        return try Programs.run(Programs.program("coffer"), arguments + connection, input: input)
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
