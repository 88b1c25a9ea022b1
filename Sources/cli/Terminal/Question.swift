package import CofferCore
internal import CofferMemory
internal import CofferSystem

/// A question that a person answers on the terminal, visibly.
package struct Question {
    /// The terminal.
    let terminal: Int32

    package init(terminal: Int32) { self.terminal = terminal }

    /// Asks for a line.
    package func ask(_ text: Line) throws(CofferError) -> String {
        let prompt = TerminalPrompt(text: text, limit: Limits.answerBytes, isShown: true, terminal: terminal)
        return String(decoding: try prompt.ask().exposeBytes(), as: UTF8.self)
    }

    /// Asks for a decision; an empty answer is no.
    package func decide(_ text: Line) throws(CofferError) -> Bool {
        ["y", "yes"].contains(try ask("\(text) [y/N] ").lowercased())
    }
}
