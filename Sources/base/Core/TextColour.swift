/// A colour of a word on a terminal: it says no more than the word.
package enum TextColour: Int, Sendable {
    case red = 31
    case yellow = 33
    case cyan = 36

    func applied(to words: String) -> String { words.isEmpty ? words : "\u{1B}[\(rawValue)m\(words)\u{1B}[m" }
}

extension String {
    /// The text without its colours; other escape sequences, such as those of a progress bar, stay.
    package var withoutColours: String {
        guard utf8.contains(0x1B) else { return self }
        var parts = split(separator: "\u{1B}[", omittingEmptySubsequences: false)[...]
        var plain = String(parts.popFirst() ?? "")
        for part in parts {
            let end = part.drop { $0.isNumber }
            plain += end.first == "m" ? String(end.dropFirst()) : "\u{1B}[\(part)"
        }
        return plain
    }
}
