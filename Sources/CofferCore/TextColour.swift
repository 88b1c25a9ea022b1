/// A colour of a word on a terminal: it says no more than the word.
package enum TextColour: Int, Sendable {
    case red = 31
    case yellow = 33
    case cyan = 36

    func applied(to words: String) -> String { words.isEmpty ? words : "\u{1B}[\(rawValue)m\(words)\u{1B}[m" }
}

extension String {
    /// The text of a line for a terminal without its colours, which are all that begins with an escape character in one.
    package var withoutColours: String {
        guard utf8.contains(0x1B) else { return self }
        var plain = ""
        var isColour = false
        for scalar in unicodeScalars {
            if scalar == "\u{1B}" { isColour = true }
            if !isColour { plain.unicodeScalars.append(scalar) }
            if scalar == "m" { isColour = false }
        }
        return plain
    }
}
