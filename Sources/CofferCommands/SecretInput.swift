internal import ArgumentParser
internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// Where a passcode comes from: never from an argument or the environment.
package struct PasscodeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the passcode from this descriptor.", valueName: "number"))
    var passcodeFd: Int32?

    package init() {}

    /// Reads the passcode that was given by a descriptor; `nil` where it is to be asked for.
    func readGiven() throws(CofferError) -> SecretBytes? {
        guard let passcodeFd else { return nil }
        return try SecretInput.passcode(from: passcodeFd)
    }
}

extension SecretBytes? {
    /// What was given, or what a person answers.
    consuming func orAsked(_ ask: () throws(CofferError) -> SecretBytes) throws(CofferError) -> SecretBytes {
        switch consume self {
        case .some(let given): return given
        case .none: return try ask()
        }
    }
}

/// Reads secrets into memory that is locked and wiped.
enum SecretInput {
    /// A passcode up to the end of a descriptor, less one line end: what `echo` and here-strings add.
    static func passcode(from number: Int32, _ subject: String = "the passcode") throws(CofferError) -> SecretBytes {
        var passcode = try readAll(from: number, limit: Limits.passcodeBytes + 1, subject)
        let endsLine = passcode.withBytes { bytes in
            guard bytes.byteCount > 0 else { return false }
            return unsafe bytes.unsafeLoad(fromByteOffset: bytes.byteCount - 1, as: UInt8.self) == 10
        }
        if endsLine { passcode.truncate(to: passcode.count - 1) }
        return passcode
    }

    /// Reads until there are so many bytes, or the descriptor ends.
    static func readAll(from number: Int32, limit: Int, _ subject: String) throws(CofferError) -> SecretBytes {
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: limit) } catch { throw .noSecretMemory }
        var done = 0
        while done < limit {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(number, buffer.baseAddress.map { unsafe $0 + done }, limit - done)
            }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw SystemError("read").cofferError("can't read \(subject)") }
            if count == 0 { break }
            done += count
        }
        bytes.truncate(to: done)
        return bytes
    }

    /// Asks on the terminal, without echo.
    ///
    /// - Throws: `param` at once where there is no terminal: a prompt that nobody sees would hang.
    static func ask(_ prompt: Line, limit: Int) throws(CofferError) -> SecretBytes {
        let terminal = try openTerminal(
            orElse:
                "give a passcode by --passcode-fd, a new one by --new-passcode-fd, a recovery key by --recovery-key-fd, "
                + "and a secret by standard input"
        )
        return try TerminalPrompt(text: prompt, limit: limit, isShown: false, terminal: terminal.number).ask()
    }

    /// Opens the terminal that the program was started from.
    ///
    /// - Throws: `param` where there is none, with the way to do without it.
    static func openTerminal(orElse hint: String) throws(CofferError) -> OwnedDescriptor {
        let number = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw CofferError(.param, "there is no terminal to ask on", hint: hint) }
        return OwnedDescriptor(owning: number)
    }

    /// Asks for a new passcode, or a password: a person types it twice.
    static func askNew(_ what: String = "passcode") throws(CofferError) -> SecretBytes {
        let first = try ask("New \(what): ", limit: Limits.passcodeBytes)
        let second = try ask("Repeat \(what): ", limit: Limits.passcodeBytes)
        guard first.isEqual(to: second) else {
            throw CofferError(.param, "the two \(what)s differ", hint: "run the command again")
        }
        return first
    }
}
