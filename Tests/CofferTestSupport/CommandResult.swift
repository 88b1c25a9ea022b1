import Foundation

/// The result of a program.
package struct CommandResult: Sendable {
    /// Its exit code; 128 and the signal where it was killed.
    package let status: Int32
    /// Standard output.
    package let output: [UInt8]
    /// Standard error.
    package let errors: String

    /// Standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }
}

private let mostSeconds = 900

/// Runs a program to its end.
///
/// - Parameters:
///   - path: The program.
///   - arguments: Its arguments.
///   - environment: All of its environment.
///   - input: What it reads from standard input.
///   - descriptors: What it reads from descriptors 3 and on.
/// - Returns: Its result; status 124 if it did not end within 15 minutes.
package func runCommand(
    _ path: String,
    _ arguments: [String],
    environment: [String: String] = [:],
    input: [UInt8] = [],
    directory: String? = nil,
    passcode: String? = nil
) throws -> CommandResult {
    let process = Process()
    // Foundation passes no descriptor but the three: a shell opens the fourth. It passes the signals that the threads of
    // tasks block: a program with those could never be ended. And one that hangs is not to hang everything.
    let scratch = try TemporaryDirectory()
    let inputPath = try scratch.write(input, to: "input")
    var script = "exec env --default-signal timeout --kill-after=9 \(mostSeconds) \"$0\" \"$@\" <\(inputPath)"
    if let passcode { script += " 3<\(try scratch.write(Array(passcode.utf8), to: "passcode"))" }
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = ["-c", script, path] + arguments
    process.environment = ["PATH": "/usr/bin:/bin"].merging(environment) { $1 }
    if let directory { process.currentDirectoryURL = URL(filePath: directory) }
    let outputPath = try scratch.write([], to: "output")
    let errorPath = try scratch.write([], to: "errors")
    process.standardOutput = FileHandle(forWritingAtPath: outputPath)
    process.standardError = FileHandle(forWritingAtPath: errorPath)
    try process.run()
    process.waitUntilExit()
    return CommandResult(
        status: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
        output: Array(try Data(contentsOf: URL(filePath: outputPath))),
        errors: String(decoding: try Data(contentsOf: URL(filePath: errorPath)), as: UTF8.self)
    )
}
