internal import CofferCore
internal import CofferProcesses
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The program of `$SSH_ASKPASS`, while it asks a person for a confirmation.
struct Askpass: ~Copyable {
    private static let usual = "/usr/bin/ssh-askpass"

    private let program: RunningTool

    /// Begins to ask.
    init(_ question: String) throws(CofferError) {
        let path = environment("SSH_ASKPASS") ?? Self.usual
        // It makes two buttons of what would be a field for a passphrase.
        unsafe setenv("SSH_ASKPASS_PROMPT", "confirm", 1)
        do { program = try RunningTool(path, [question]) } catch {
            throw error.cofferError("can't ask by \(quotedForDisplay(path)), which SSH_ASKPASS names")
        }
    }

    /// A descriptor that is readable once the person has answered.
    var number: Int32 { program.number }

    /// Whether the person agreed: the program exits with 0, and prints nothing or `yes`, as OpenSSH has it.
    consuming func isConfirmed() -> Bool {
        guard let outcome = try? program.outcome(upTo: Limits.askpassBytes), outcome.isSuccess else { return false }
        let words = String(decoding: outcome.output, as: UTF8.self).prefix { !$0.isNewline }
        return ["", "yes"].contains(words.lowercased())
    }
}
