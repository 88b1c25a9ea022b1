/// What is printed for people.
///
/// The words in the source are Coffer's own and stand as they are. What is interpolated comes from somewhere else, such as a
/// name, a path, the daemon or its error, and is escaped, unless it is such a line itself. So nothing that is printed can be
/// forgotten, and a text that is not in the source can't become a line in any other way.
package struct Line: ExpressibleByStringInterpolation, Sendable {
    /// The line for a terminal.
    package private(set) var forTerminal = ""
    /// The line for a pipe or a file, where a name stands as it is: scripts read it.
    package private(set) var forPipe = ""

    package init(stringLiteral words: String) {
        forTerminal = words
        forPipe = words
    }

    package init(stringInterpolation parts: StringInterpolation) { self = parts.line }

    /// Puts one behind the other.
    package static func + (one: Line, other: Line) -> Line { "\(one)\(other)" }

    /// The parts of a line.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var line: Line = ""

        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends Coffer's own words.
        package mutating func appendLiteral(_ words: String) { append(words, words) }

        /// Appends text from somewhere else, escaped wherever it goes.
        package mutating func appendInterpolation(_ text: some CustomStringConvertible) {
            let escaped = escapedForDisplay(text.description)
            append(escaped, escaped)
        }

        /// Appends a name for itself: escaped on a terminal only.
        package mutating func appendInterpolation(name: String) { append(wholeForDisplay(name), name) }

        /// Appends a line as it is.
        package mutating func appendInterpolation(_ line: Line) { append(line.forTerminal, line.forPipe) }

        private mutating func append(_ forTerminal: String, _ forPipe: String) {
            line.forTerminal += forTerminal
            line.forPipe += forPipe
        }
    }
}

extension DefaultStringInterpolation {
    /// A line is printed, and never becomes text again.
    @available(*, unavailable, message: "make it a Line") package mutating func appendInterpolation(_ line: Line) {}
}
