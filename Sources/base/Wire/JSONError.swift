/// Why a text is not JSON that this room accepts.
///
/// It never quotes the text, which may contain what must not be logged.
package struct JSONError: Error, Equatable, Sendable {
    /// What is wrong, in words for people.
    package enum Reason: String, CaseIterable, Sendable {
        /// The input ended inside a value, or was empty.
        case unexpectedEnd = "the text ends too early"
        /// A byte that is not allowed at its place.
        case unexpectedByte = "this byte can't stand here"
        /// Data after the value.
        case trailingBytes = "something follows the value"
        /// A byte order mark.
        case byteOrderMark = "a byte order mark is not allowed"
        /// A literal other than `true`, `false` and `null`.
        case badLiteral = "expected 'true', 'false' or 'null'"
        /// Something other than a string as a key.
        case expectedKey = "expected a key in double quotes"
        /// No colon after a key.
        case expectedColon = "expected a colon"
        /// Neither a comma nor the end of the container after a value.
        case expectedSeparator = "expected a comma or the closing bracket"
        /// A key that the object has already.
        case duplicateKey = "the key occurs twice in its object"
        /// Containers nested deeper than `Limits.jsonDepth`.
        case tooDeep = "arrays and objects are nested too deeply"
        /// A control character that is not escaped.
        case controlCharacter = "a control character must be escaped"
        /// An unknown escape.
        case badEscape = "unknown escape sequence"
        /// Half of a surrogate pair.
        case loneSurrogate = "half of a surrogate pair"
        /// Bytes that are not UTF-8.
        case badUTF8 = "the string is not well-formed UTF-8"
        /// A malformed number.
        case badNumber = "expected a digit"
        /// A number beyond the range of a double.
        case numberOutOfRange = "the number is out of range"
    }

    /// The place, in bytes from the beginning of the text.
    package let offset: Int
    /// What is wrong there.
    package let reason: Reason

    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    /// The sentence for people.
    package var message: String { "malformed JSON at byte \(offset): \(reason.rawValue)" }
}
