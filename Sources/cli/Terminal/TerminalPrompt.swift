internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// A prompt on the terminal.
///
/// If a signal ends or stops the program, the settings of the terminal are restored first, as in
/// readpassphrase(3).
struct TerminalPrompt {
    /// SIGCONT is included because a shell may have enabled the echo while the program was stopped.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT]

    /// The prompt.
    let text: Line
    /// The maximum size of an answer.
    let limit: Int
    /// Whether the terminal shows the answer.
    let isShown: Bool
    /// The terminal.
    let terminal: Int32

    /// Prompts, and prompts again after the program was stopped and continued.
    ///
    /// - Returns: A line, without its end.
    /// - Throws: `param` if the input ended before the line, or the line is too long.
    func ask() throws(CofferError) -> SecretBytes {
        var signal: Int32 = 0
        while true {
            if let answer = try askOnce(interruptedBy: &signal) { return answer }
            // The handler of the Swift runtime would print memory.
            if signal == SIGQUIT { Glibc.signal(SIGQUIT, SIG_DFL) }
            raise(signal)
        }
    }

    private func askOnce(interruptedBy signal: inout Int32) throws(CofferError) -> SecretBytes? {
        let held = try hold()
        // Before anything else can end this process, the terminal is as it was.
        defer { withExtendedLifetime(held) {} }
        let before: termios
        do throws(SystemError) {
            before = try settings()
            try set(isShown ? before : Self.silent(before))
        } catch {
            throw error.cofferError("can't ask on the terminal")
        }
        defer {
            try? set(before)
            if !isShown { Output(descriptor: terminal).write("\n") }
        }
        Output(descriptor: terminal).write(text)
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: limit + 1) } catch { throw .noSecretMemory }
        let count: Int?
        do {
            count = try fill(&bytes, held, interruptedBy: &signal)
        } catch {
            throw error.cofferError("can't read the answer")
        }
        guard let count else { return nil }
        guard count >= 0 else {
            throw CofferError(.param, "nothing was given: the input ended before the line did")
        }
        guard count <= limit else { throw CofferError(.param, "more than \(limit) bytes were typed") }
        bytes.truncate(to: count)
        return bytes
    }

    /// Reads one line; in its canonical mode a terminal delivers a whole line at a time.
    ///
    /// - Returns: The size of the line; `nil` if a signal arrived first.
    private func fill(
        _ bytes: inout SecretBytes,
        _ held: borrowing HeldSignals,
        interruptedBy signal: inout Int32
    ) throws(SystemError) -> Int? {
        var place = 0
        while place <= limit {
            if let came = try held.wait(for: terminal) {
                signal = came
                return nil
            }
            let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
                let count = unsafe Glibc.read(terminal, buffer.baseAddress.map { unsafe $0 + place }, 1)
                return unsafe (count, buffer[place])
            }
            if outcome.0 < 0 { throw SystemError("read") }
            // An incomplete passcode would count as a wrong one.
            if outcome.0 == 0 { return Self.endsEarly }
            if outcome.1 == UInt8(ascii: "\n") { return place }
            place += 1
        }
        return place
    }

    private static let endsEarly = -1

    private func hold() throws(CofferError) -> HeldSignals {
        do { return try HeldSignals(Self.signals) } catch { throw error.cofferError("can't ask on the terminal") }
    }

    private func settings() throws(SystemError) -> termios {
        var settings = termios()
        _ = try retrying("tcgetattr") { unsafe tcgetattr(terminal, &settings) }
        return settings
    }

    /// Changes the settings and discards earlier input, which does not answer this prompt.
    private func set(_ settings: termios) throws(SystemError) {
        var settings = settings
        _ = try retrying("tcsetattr") { unsafe tcsetattr(terminal, TCSAFLUSH, &settings) }
    }

    private static func silent(_ settings: termios) -> termios {
        var settings = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        return settings
    }
}
