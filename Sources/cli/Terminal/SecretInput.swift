package import ArgumentParser
package import CofferClient
package import CofferMemory
package import CofferSystem
internal import Glibc

/// The source of a passcode, which is never an argument or a variable of the environment.
package struct PasscodeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the passcode from this descriptor.", valueName: "number"))
    package var passcodeFd: Int32?

    package init() {}

    /// Reads the passcode from its descriptor; `nil` if the verb has to prompt.
    package func readGiven() throws(CofferError) -> Secret? { try SecretInput.passcode(from: passcodeFd) }
}

/// Reads secrets into locked memory, which is wiped.
package enum SecretInput {
    /// Reads a passcode to the end of a descriptor, without a final line end, which `echo` and here-strings
    /// append.
    package static func passcode(from number: Int32?, _ subject: String = "the passcode") throws(CofferError) -> Secret?
    {
        guard let number else { return nil }
        return Secret(try line(from: number, subject))
    }

    /// Reads a passcode or a passphrase to the end of a descriptor, without a final line end.
    static func line(from number: Int32, _ subject: String) throws(CofferError) -> SecretBytes {
        var line = try readAll(from: number, limit: Limits.passcodeBytes + 1) { error in
            guard error.code == EBADF else { return error.cofferError("can't read \(subject)") }
            return CofferError(
                .io,
                "can't read \(subject): descriptor \(number) is not open",
                hint: "sudo closes all but 0, 1 and 2: give it on standard input, such as by '--passcode-fd 0'"
            )
        }
        let endsLine = line.withBytes { bytes in
            guard bytes.byteCount > 0 else { return false }
            return unsafe bytes.unsafeLoad(fromByteOffset: bytes.byteCount - 1, as: UInt8.self) == 10
        }
        if endsLine { line.truncate(to: line.count - 1) }
        return line
    }

    /// Reads up to a limit, or to the end of the descriptor.
    package static func readAll(from number: Int32, limit: Int, _ subject: String) throws(CofferError) -> SecretBytes {
        try readAll(from: number, limit: limit) { $0.cofferError("can't read \(subject)") }
    }

    /// Reads up to a limit, or to the end of the descriptor.
    package static func readAll(
        from number: Int32,
        limit: Int,
        orElse failure: (SystemError) -> CofferError
    ) throws(CofferError) -> SecretBytes {
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: limit) } catch { throw .noSecretMemory }
        var done = 0
        while done < limit {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(number, buffer.baseAddress.map { unsafe $0 + done }, limit - done)
            }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw failure(SystemError("read")) }
            if count == 0 { break }
            done += count
        }
        bytes.truncate(to: done)
        return bytes
    }

    /// Opens a file, or standard input if there is no path.
    package static func open(_ path: String?) throws(CofferError) -> OwnedDescriptor {
        guard let path else { return try duplicate(STDIN_FILENO, "can't read standard input") }
        let number = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if number < 0 {
            let error = SystemError("open")
            throw CofferError(.io, "can't read \(quotedForDisplay(path)): \(error.reason)")
        }
        return OwnedDescriptor(owning: number)
    }

    /// Duplicates a descriptor.
    static func duplicate(_ number: Int32, _ failure: String) throws(CofferError) -> OwnedDescriptor {
        do {
            return try OwnedDescriptor("dup") { fcntl(number, F_DUPFD_CLOEXEC, 3) }
        } catch {
            throw error.cofferError(failure)
        }
    }

    /// Prompts on the terminal, without echo.
    ///
    /// - Throws: `param` with the hint if there is no terminal.
    package static func ask(
        _ prompt: Line,
        limit: Int,
        orElse hint: String = hintWithoutTerminal
    ) throws(CofferError) -> SecretBytes {
        let terminal = try openTerminal(orElse: hint)
        return try TerminalPrompt(text: prompt, limit: limit, isShown: false, terminal: terminal.number).ask()
    }

    private static let hintWithoutTerminal =
        "give a passcode by --passcode-fd, a new one by --new-passcode-fd, a recovery key by --recovery-key-fd, "
        + "and a secret by standard input"

    /// Opens the controlling terminal.
    ///
    /// - Throws: `param` with the hint if there is none.
    package static func openTerminal(orElse hint: String) throws(CofferError) -> OwnedDescriptor {
        let number = unsafe Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw CofferError(.param, "there is no terminal to ask on", hint: hint) }
        return OwnedDescriptor(owning: number)
    }

    /// Prompts twice for a new passcode or password.
    package static func askNew(
        _ what: String = "passcode",
        check: (Secret) throws(CofferError) -> Void = { _ in }
    ) throws(CofferError) -> Secret {
        try askTwice("New \(what): ", "Repeat \(what): ", of: what, limit: Limits.passcodeBytes, check: check)
    }

    /// Prompts twice, because a typed secret is not seen, and again if the answers differ or the first one is refused.
    ///
    /// - Parameters:
    ///   - what: The noun for the error text.
    ///   - check: Refuses the first answer, before the second prompt.
    package static func askTwice(
        _ prompt: Line,
        _ repetition: Line,
        of what: String,
        limit: Int,
        check: (Secret) throws(CofferError) -> Void
    ) throws(CofferError) -> Secret {
        let screen = try openTerminal(orElse: hintWithoutTerminal)
        var left = Limits.newSecretAttempts
        while true {
            let first = Secret(try ask(prompt, limit: limit))
            let refusal = refusal(of: first, by: check)
            if refusal == nil, first.isEqual(to: Secret(try ask(repetition, limit: limit))) { return first }
            let error = refusal ?? CofferError(.param, "the two \(what)s differ", hint: "run the command again")
            left -= 1
            guard left > 0, error.code == .param else { throw error }
            Output(descriptor: screen.number).line("Try again: \(error.message).")
        }
    }

    private static func refusal(of typed: Secret, by check: (Secret) throws(CofferError) -> Void) -> CofferError? {
        do throws(CofferError) { try check(typed) } catch { return error }
        return nil
    }
}

extension Secret {
    /// Writes the bytes unchanged, without a copy in ordinary memory.
    ///
    /// - Parameters:
    ///   - descriptor: The destination.
    ///   - what: The noun for error texts.
    package func write(to descriptor: Int32, _ what: String = "the content") throws(CofferError) {
        let target = try SecretInput.duplicate(descriptor, "can't write \(what)")
        do {
            try withBytes { (bytes) throws(SystemError) in try target.write(all: bytes) }
        } catch {
            throw error.cofferError("can't write \(what)")
        }
    }
}
