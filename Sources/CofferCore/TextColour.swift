internal import Glibc

/// A colour of a word on a terminal: it says no more than the word.
package enum TextColour: Int, Sendable {
    case red = 31
    case yellow = 33
    case cyan = 36

    /// Whether the person wants colours, and the terminal has them: `NO_COLOR` and `TERM`, as other programs read them.
    private static let isWanted: Bool = {
        func value(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }
        return (value("NO_COLOR") ?? "").isEmpty && !["", "dumb"].contains(value("TERM") ?? "")
    }()

    func applied(to words: String) -> String {
        Self.isWanted && !words.isEmpty ? "\u{1B}[\(rawValue)m\(words)\u{1B}[m" : words
    }
}
