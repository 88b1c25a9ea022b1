internal import CofferCore
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The program of `$SSH_ASKPASS`, which asks a person.
enum Askpass {
    private static let usual = "/usr/bin/ssh-askpass"
    private static let answerBytes = 4096

    /// Asks for a confirmation, and waits for it.
    ///
    /// - Returns: Whether the person agreed: the program exits with 0, and prints nothing or `yes`, as OpenSSH has it.
    static func confirms(_ question: String) throws(CofferError) -> Bool {
        let program = environment("SSH_ASKPASS") ?? usual
        // It makes two buttons of what would be a field for a passphrase.
        unsafe setenv("SSH_ASKPASS_PROMPT", "confirm", 1)
        var buffer = [UInt8](repeating: 0, count: answerBytes)
        do throws(SystemError) {
            let result = unsafe buffer.withUnsafeMutableBytes { buffer in
                Result { () throws(SystemError) in unsafe try Tool.run(program, [question], into: buffer) }
            }
            let outcome = try result.get()
            let words = String(decoding: buffer.prefix(outcome.count), as: UTF8.self).prefix { !$0.isNewline }
            return outcome.isSuccess && ["", "yes"].contains(words.lowercased())
        } catch {
            throw error.cofferError("can't ask by \(quotedForDisplay(program)), which SSH_ASKPASS names")
        }
    }
}
