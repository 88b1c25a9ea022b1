package import ArgumentParser
package import CofferClient
internal import CofferSystem
internal import Glibc

/// The destination of requested bytes.
package struct BytesOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write to this file, replaced when all is there; '-' is standard output.",
            valueName: "file"
        ),
        completion: .file()
    )
    package var output: String?

    package init() {}

    /// Writes the bytes unchanged, or only text to a terminal.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - what: The noun for error texts.
    package func write(_ bytes: Secret, _ what: String) throws(CofferError) {
        try write(
            { (number) throws(CofferError) in try bytes.write(to: number) },
            orShow: { () throws(CofferError) in try Self.show(bytes, what) }
        )
    }

    /// Writes the bytes unchanged, or shows them on a terminal.
    ///
    /// - Parameters:
    ///   - copy: Writes them to a descriptor.
    ///   - show: Shows them on a terminal.
    package func write(
        _ copy: (Int32) throws(CofferError) -> Void,
        orShow show: () throws(CofferError) -> Void
    ) throws(CofferError) {
        guard let output, output != "-" else {
            do throws(CofferError) {
                return try Output.standardOutput.isTerminal ? show() : copy(STDOUT_FILENO)
            } catch {
                // It may be the daemon that has found the pipe broken.
                if error.code == .io && Output.standardOutput.isAbandoned { ProcessHardening.endByBrokenPipe() }
                throw error
            }
        }
        let file = try OutputFile(output)
        try copy(file.number)
        try file.finish()
    }

    /// Prints text to a terminal, with everything escaped that the terminal would interpret.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - what: The noun for error texts.
    package static func show(_ bytes: Secret, _ what: String) throws(CofferError) {
        let form = bytes.withBytes { TerminalText($0) }
        guard form != .binary else {
            throw CofferError(
                .param,
                "\(what) is binary, and this is a terminal",
                hint: "use --output FILE, or a pipe"
            )
        }
        try bytes.write(to: STDOUT_FILENO)
        if form == .unfinishedLine { Output.standardOutput.write("\n") }
    }
}
