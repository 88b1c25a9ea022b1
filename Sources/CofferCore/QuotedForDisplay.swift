/// Puts a value in single quotes for a sentence: what could break the line or the quotes is escaped, and a long value is
/// cut.
///
/// - Parameter value: The value, from whatever source.
/// - Returns: At most 80 characters.
public func quotedForDisplay(_ value: String) -> String { value.quoted(upTo: 76) }

/// Escapes what a terminal would obey or not show.
///
/// That is control characters, marks that turn the direction of the text, line and paragraph separators, and what has no
/// width: with it, one name could look like another. The joiner of emoji is no exception, because many terminals do not show it.
/// Letters that look alike stay.
///
/// - Parameter text: The text, from whatever source.
package func escapedForDisplay(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    var escaped = ""
    for scalar in text.unicodeScalars { escaped += scalar.isUnseen ? scalar.escaped(asASCII: true) : String(scalar) }
    return escaped
}

/// The whole of a name, for itself: in quotes where it can't be shown as it is.
///
/// - Parameter name: The name.
func wholeForDisplay(_ name: String) -> String {
    let quoted = name.quoted(upTo: .max)
    return quoted == "'\(name)'" ? name : quoted
}

extension String {
    /// The text in single quotes; what could break the line or the quotes is escaped.
    fileprivate func quoted(upTo limit: Int) -> String {
        // Nearly every name there is, for what is read a hundred thousand times a second.
        if utf8.count <= limit, utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x27 && $0 != 0x5C }) {
            return "'\(self)'"
        }
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
    /// Whether a terminal would obey it or not show it.
    package var isUnseen: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: properties.isDefaultIgnorableCodePoint
        }
    }
}
