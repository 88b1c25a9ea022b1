/// Puts a value in single quotes for a sentence: what could break the line or the quotes is escaped, and a long value is
/// cut.
///
/// - Parameter value: The value, from whatever source.
/// - Returns: At most 80 characters.
public func quotedForDisplay(_ value: String) -> String {
    let limit = 76
    // Nearly every name there is, for what is read a hundred thousand times a second.
    if value.utf8.count <= limit, value.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x27 && $0 != 0x5C }) {
        return "'\(value)'"
    }
    var words = ""
    for scalar in value.unicodeScalars {
        let piece = scalar.needsEscape ? scalar.escaped(asASCII: true) : String(scalar)
        if words.unicodeScalars.count + piece.unicodeScalars.count > limit { return "'\(words)…'" }
        words += piece
    }
    return "'\(words)'"
}

extension Unicode.Scalar {
    fileprivate var needsEscape: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: true
        default: self == "'" || self == "\\"
        }
    }
}
