internal import ArgumentParser
internal import CofferClient

// Candidates in the form in which a shell's script takes them for what they are.

extension [String] {
    /// The candidates for the shell that asks, without those that it can't take.
    ///
    /// In bash, the script hands them to `compgen -W`, which expands each of them like a word of a command line: a name
    /// such as `$(reboot)` would be executed.
    var literal: [String] {
        let lines = filter { !$0.utf8.contains(UInt8(ascii: "\n")) }
        return switch CompletionShell.requesting {
        case .bash?: lines.map { $0.escaping { !$0.isPlainInShells } }
        // A colon begins the description.
        case .zsh?: lines.map { $0.escaping { $0 == ":" || $0 == "\\" } }
        default: lines
        }
    }
}

extension String {
    /// The text with a backslash before the characters that need one.
    fileprivate func escaping(_ isSpecial: (Character) -> Bool) -> String {
        reduce(into: "") { text, character in
            if isSpecial(character) { text += "\\" }
            text.append(character)
        }
    }
}

extension Character {
    /// Whether the character means itself in every place of a word.
    fileprivate var isPlainInShells: Bool { !isASCII || isLetter || isNumber || "_./:@%+,-=".contains(self) }
}
