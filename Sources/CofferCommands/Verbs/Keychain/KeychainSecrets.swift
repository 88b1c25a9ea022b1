internal import ArgumentParser
internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Glibc

extension SecretInput {
    /// The whole of a file, of standard input, or of what a person types without echo.
    ///
    /// - Parameters:
    ///   - file: The path of the file; `nil` for standard input.
    ///   - prompt: What a person is asked.
    ///   - limit: The most bytes that can be of use; one more is read, for the daemon to refuse.
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

/// Where a verb puts bytes that were asked for.
struct BytesOutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write to this file, replaced when all is there.", valueName: "file")
    )
    var output: String?

    /// Writes the bytes as they are; shows a person text only.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - what: What they are, for a sentence.
    func write(_ bytes: Secret, _ what: String) throws(CofferError) {
        try write(
            { (number) throws(CofferError) in try bytes.write(to: number) },
            orShow: { () throws(CofferError) in try Self.show(bytes, what) }
        )
    }

    /// Has bytes written as they are, or shown to a person.
    ///
    /// - Parameters:
    ///   - copy: Writes them to a descriptor.
    ///   - show: Shows them on a terminal.
    func write(
        _ copy: (Int32) throws(CofferError) -> Void,
        orShow show: () throws(CofferError) -> Void
    ) throws(CofferError) {
        guard let output else { return try Output.standardOutput.isTerminal ? show() : copy(STDOUT_FILENO) }
        let file = try OutputFile(output)
        try copy(file.number)
        try file.finish()
    }

    /// Shows a person text, and nothing that the terminal would obey.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - what: What they are, for a sentence.
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
