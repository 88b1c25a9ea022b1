import Foundation

/// The result of a program.
package struct CommandResult: Sendable {
    /// Its exit code; 128 plus the signal if it was killed.
    package let status: Int32
    /// Standard output.
    package let output: [UInt8]
    /// Standard error.
    package let errors: String

    package init(status: Int32, output: [UInt8], errors: String) {
        (self.status, self.output, self.errors) = (status, output, errors)
    }

    /// Standard output as text.
    package var text: String { String(decoding: output, as: UTF8.self) }
}

private let mostSeconds = 900

/// Runs a program to its end.
///
/// - Parameters:
///   - path: The program.
///   - arguments: Its arguments.
///   - environment: Its whole environment.
///   - input: Its standard input.
///   - descriptors: The contents of descriptors 3 and up.
/// - Returns: Its result; status 124 after 15 minutes.
package func runCommand(
    _ path: String,
    _ arguments: [String],
    environment: [String: String] = [:],
    input: [UInt8] = [],
    directory: String? = nil,
    passcode: String? = nil
) throws -> CommandResult {
    let process = Process()
    // Foundation passes only the three standard descriptors, so a shell opens the others. Foundation also
    // passes on the signals that the threads of tasks block, with which a program could not be ended. The
    // timeout limits a program that hangs.
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
