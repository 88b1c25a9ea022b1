internal import ArgumentParser
package import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// The option of verbs that destroy data irrecoverably.
package struct ConfirmationOptions: ParsableArguments {
    @Flag(help: "Do not ask.")
    package var yes = false

    /// Opens the terminal, if a confirmation is required.
    ///
    /// - Throws: `param` if there is no terminal.
    package func prepare() throws(CofferError) -> Confirmation {
        Confirmation(terminal: yes ? nil : Terminal(try SecretInput.openTerminal(orElse: "say --yes to do without")))
    }
}

/// A terminal that is shared by reference.
private final class Terminal {
    let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
}

/// The warning before data is destroyed, and the confirmation.
package struct Confirmation {
    private let terminal: Terminal?
    private let output: Output

    fileprivate init(terminal: Terminal?) {
        self.terminal = terminal
        output = terminal.map { Output(descriptor: $0.descriptor.number) } ?? .standardError
    }

    /// Prints a line where the prompt appears.
    package func say(_ line: Line) { output.line(line) }

    /// Prompts for the confirmation.
    ///
    /// - Parameters:
    ///   - word: The word to type.
    ///   - refusal: The error text if it was not typed.
    /// - Throws: `param` if something else was typed.
    package func ask(for word: String, orElse refusal: String) throws(CofferError) {
        guard let terminal else { return }
        let answer = try Question(terminal: terminal.descriptor.number).ask("type '\(word)' to go on: ")
        guard answer.utf8.elementsEqual(word.utf8) else {
            throw CofferError(.param, "\(refusal): the answer was not '\(word)'")
        }
    }
}
