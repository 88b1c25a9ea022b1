/// Puts a value in single quotes for a sentence.
///
/// Characters that could break the line or the quotes are escaped, and a long value is cut.
///
/// - Returns: At most 80 characters.
public func quotedForDisplay(_ value: String) -> String { value.quoted(upTo: 76) }

/// Escapes characters that a terminal would interpret or not show.
///
/// These are control characters, bidirectional controls, line and paragraph separators, and zero-width characters,
/// which make one name look like another. The joiner of emoji is among them, because many terminals do not show it.
/// Letters that look alike are not escaped.
package func escapedForDisplay(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    var escaped = ""
    for scalar in text.unicodeScalars { escaped += scalar.isUnseen ? scalar.escaped(asASCII: true) : String(scalar) }
    return escaped
}

/// A whole name as a result: in quotes if it can't be shown unchanged.
func wholeForDisplay(_ name: String) -> String {
    if name.isPlain { return name }
    let quoted = name.quoted(upTo: .max)
    return quoted == "'\(name)'" ? name : quoted
}

extension String {
    /// Whether each character stands for itself between single quotes: nearly every name is so.
    ///
    /// This may be asked a hundred thousand times a second.
    fileprivate var isPlain: Bool {
        let bytes = utf8
        let text = bytes.span
        return text.indices.allSatisfy {
            let byte = text[$0]
            return byte >= 0x20 && byte < 0x7F && byte != 0x27 && byte != 0x5C
        }
    }

    /// The text in single quotes, with characters escaped that could break the line or the quotes.
    fileprivate func quoted(upTo limit: Int) -> String {
        if utf8.count <= limit && isPlain { return "'\(self)'" }
        var words = ""
        var count = 0
        for scalar in unicodeScalars {
            let isEscaped = scalar.isUnseen || scalar == "'" || scalar == "\\"
            let piece = isEscaped ? scalar.escaped(asASCII: true) : String(scalar)
            count += piece.unicodeScalars.count
            if count > limit { return "'\(words)…'" }
            words += piece
        }
        return "'\(words)'"
    }
}

extension Unicode.Scalar {
    /// Whether a terminal would interpret the character or not show it.
    package var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
