internal import ArgumentParser
internal import CofferClient
internal import CofferMemory
internal import CofferSystem
internal import Glibc

extension SecretInput {
    /// Reads a whole file, standard input, or a text that is typed without echo.
    ///
    /// - Parameters:
    ///   - file: The path of the file; `nil` for standard input.
    ///   - prompt: The prompt on a terminal.
    ///   - limit: The limit of the daemon; one more byte is read, so that the daemon refuses it.
    static func content(of file: String?, prompt: Line, limit: Int) throws(CofferError) -> SecretBytes {
        if file == nil && isatty(STDIN_FILENO) == 1 { return try ask(prompt, limit: limit) }
        let source = try open(file)
        return try readAll(from: source.number, limit: limit + 1, file.map { quotedForDisplay($0) } ?? "standard input")
    }

    /// A certificate as DER, given as DER or as PEM.
    static func certificate(of file: String?) throws(CofferError) -> SecretBytes {
        // PEM is a third longer than DER, and often has words and a private key beside it.
        try CertificateInput.der(from: try content(of: file, prompt: "Certificate: ", limit: 4 * Limits.secretBytes))
    }
}

/// The destination of requested bytes.
struct BytesOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Write to this file, replaced when all is there; '-' is standard output.",
            valueName: "file"
        ),
        completion: .file()
    )
    var output: String?

    /// Writes the bytes unchanged, or only text to a terminal.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - what: The noun for error texts.
    func write(_ bytes: Secret, _ what: String) throws(CofferError) {
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
    func write(
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
    static func show(_ bytes: Secret, _ what: String) throws(CofferError) {
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
