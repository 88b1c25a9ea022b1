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
        guard let file else {
            if isatty(STDIN_FILENO) == 1 { return try ask(prompt, limit: limit) }
            return try readAll(from: STDIN_FILENO, limit: limit + 1, "standard input")
        }
        let number = unsafe open(file, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            let error = SystemError("open")
            throw CofferError(.io, "can't read \(quotedForDisplay(file)): \(error.reason)")
        }
        let source = OwnedDescriptor(owning: number)
        return try readAll(from: source.number, limit: limit + 1, quotedForDisplay(file))
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
    ///   - bytes: The bytes; `nil` for none.
    ///   - what: What they are, for a sentence.
    func write(_ bytes: borrowing SecretBytes?, _ what: String) throws(CofferError) {
        if let output {
            let file = try OutputFile(output)
            try Self.copy(bytes, to: file.number)
            return try file.finish()
        }
        guard Output.standardOutput.isTerminal else { return try Self.copy(bytes, to: STDOUT_FILENO) }
        try Self.show(bytes, what)
    }

    /// Shows a person text, and nothing that the terminal would obey.
    ///
    /// - Parameters:
    ///   - bytes: The bytes; `nil` for none.
    ///   - what: What they are, for a sentence.
    static func show(_ bytes: borrowing SecretBytes?, _ what: String) throws(CofferError) {
        let form = TerminalText(bytes)
        guard form != .binary else {
            throw CofferError(
                .param,
                "\(what) is binary, and this is a terminal",
                hint: "use --output FILE, or a pipe"
            )
        }
        try copy(bytes, to: STDOUT_FILENO)
        if form == .unfinishedLine { Output.standardOutput.write("\n") }
    }

    private static func copy(_ bytes: borrowing SecretBytes?, to descriptor: Int32) throws(CofferError) {
        switch bytes {
        case .none: return
        case .some(let bytes):
            do throws(SystemError) {
                let number = try SystemError.check("dup", fcntl(descriptor, F_DUPFD_CLOEXEC, 3))
                let target = OwnedDescriptor(owning: number)
                try bytes.withBytes { (bytes) throws(SystemError) in try target.write(all: bytes) }
            } catch {
                throw error.cofferError("can't write the content")
            }
        }
    }
}

extension TerminalText {
    fileprivate init(_ bytes: borrowing SecretBytes?) {
        switch bytes {
        case .none: self = .lines
        case .some(let bytes): self = bytes.withBytes { TerminalText($0) }
        }
    }
}
