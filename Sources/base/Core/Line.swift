/// A line that is printed for people.
///
/// Literals in the source are Coffer's own words and are printed unchanged. Interpolated text comes from elsewhere,
/// such as a name, a path, the daemon or its error, and is escaped, unless it is itself a `Line`. So no text can be
/// printed unescaped by mistake, and only a literal can become a line without escaping.
package struct Line: ExpressibleByStringInterpolation, Sendable {
    /// The line for a terminal.
    package private(set) var forTerminal = ""
    /// The line for a pipe or a file, in which names are unchanged, for scripts.
    package private(set) var forPipe = ""

    package init(stringLiteral words: String) {
        forTerminal = words
        forPipe = words
    }

    package init(stringInterpolation parts: StringInterpolation) { self = parts.line }

    /// Concatenates two lines.
    package static func + (one: Line, other: Line) -> Line { "\(one)\(other)" }

    /// The parts of a line.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var line: Line = ""

        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends Coffer's own words.
        package mutating func appendLiteral(_ words: String) { append(words, words) }

        /// Appends text from elsewhere, always escaped.
        package mutating func appendInterpolation(_ text: some CustomStringConvertible) {
            let escaped = escapedForDisplay(text.description)
            append(escaped, escaped)
        }

        /// Appends a name that is a result: escaped only on a terminal.
        package mutating func appendInterpolation(name: String) { append(wholeForDisplay(name), name) }

        /// Appends a line unchanged.
        package mutating func appendInterpolation(_ line: Line) { append(line.forTerminal, line.forPipe) }

        /// Appends Coffer's own words, on a terminal in a colour.
        package mutating func appendInterpolation(_ words: String, in colour: TextColour) {
            append(colour.applied(to: words), words)
        }

        private mutating func append(_ forTerminal: String, _ forPipe: String) {
            line.forTerminal += forTerminal
            line.forPipe += forPipe
        }
    }
}

extension DefaultStringInterpolation {
    /// A line is printed, and never converted back to text.
    @available(*, unavailable, message: "make it a Line") package mutating func appendInterpolation(_ line: Line) {}
}
