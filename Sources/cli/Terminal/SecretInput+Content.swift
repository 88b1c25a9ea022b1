internal import CofferSystem
package import CofferCore
package import CofferMemory
internal import Glibc

extension SecretInput {
    /// Reads a whole file, standard input, or a text that is typed without echo.
    ///
    /// - Parameters:
    ///   - file: The path of the file; `nil` for standard input.
    ///   - prompt: The prompt on a terminal.
    ///   - limit: The limit of the daemon; one more byte is read, so that the daemon refuses it.
    package static func content(of file: String?, prompt: Line, limit: Int) throws(CofferError) -> SecretBytes {
        if file == nil && isatty(STDIN_FILENO) == 1 { return try ask(prompt, limit: limit) }
        let source = try open(file)
        return try readAll(from: source.number, limit: limit + 1, file.map { quotedForDisplay($0) } ?? "standard input")
    }
}
