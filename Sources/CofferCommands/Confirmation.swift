internal import ArgumentParser
internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// The option of verbs that destroy what nothing brings back.
package struct ConfirmationOptions: ParsableArguments {
    @Flag(help: "Do not ask.")
    var yes = false

    package init() {}

    /// Prepares to ask, where that is to be done.
    ///
    /// - Throws: `param` at once where there is no terminal.
    func prepare() throws(CofferError) -> Confirmation {
        Confirmation(terminal: yes ? nil : Terminal(try SecretInput.openTerminal(orElse: "say --yes to do without")))
    }
}

/// The terminal, with one owner.
private final class Terminal {
    let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
}

/// What a person is told before something is lost, and what the person says to it.
struct Confirmation {
    private let terminal: Terminal?
    private let output: Output

    fileprivate init(terminal: Terminal?) {
        self.terminal = terminal
        output = terminal.map { Output(descriptor: $0.descriptor.number) } ?? .standardError
    }

    /// Tells, where the person who is asked reads it.
    func say(_ line: Line) { output.line(line) }

    /// Asks.
    ///
    /// - Parameters:
    ///   - word: What has to be typed.
    ///   - refusal: What did not happen where it was not.
    /// - Throws: `param` where something else was typed.
    func ask(for word: String, orElse refusal: String) throws(CofferError) {
        guard let terminal else { return }
        let answer = try TerminalPrompt(
            text: "type '\(word)' to go on: ",
            limit: 64,
            isShown: true,
            terminal: terminal.descriptor.number
        ).ask()
        guard answer.exposeBytes() == Array(word.utf8) else {
            throw CofferError(.param, "\(refusal): the answer was not '\(word)'")
        }
    }
}
