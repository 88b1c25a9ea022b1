/// A configuration file, in the syntax of systemd.syntax(7): sections in brackets, `Key=value` on a line, and comments.
///
/// Every error names its line. Unknown sections and settings are errors.
package struct ConfigurationFile: Sendable {
    /// One setting.
    package struct Entry: Sendable {
        /// The text before the equals sign.
        package let key: String
        /// The text after the equals sign.
        package let value: String
        /// The line number, from 1.
        package let line: Int
    }

    /// One section; a name may occur several times.
    package struct Section: Sendable {
        /// The text in the brackets.
        package let name: String
        /// The number of its first line, from 1.
        package let line: Int
        /// Its settings.
        package fileprivate(set) var entries: [Entry]
    }

    /// The path of the file.
    package let path: String
    /// The sections, in order.
    package private(set) var sections: [Section] = []

    /// Parses a text.
    ///
    /// - Throws: `param` with the line of the error.
    package init(_ text: String, path: String) throws(CofferError) {
        self.path = path
        var number = 0
        // By bytes: a combining mark would form one character with the byte before it, and hide a `#`, `[` or `=`.
        let lines = text.withoutByteOrderMark.utf8.split(
            separator: UInt8(ascii: "\n"),
            omittingEmptySubsequences: false
        )
        for line in lines {
            number += 1
            let line = Self.trimmed(line)
            guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else { continue }
            if first == UInt8(ascii: "[") {
                guard line.last == UInt8(ascii: "]"), line.count > 2 else {
                    throw wrong(number, "a section is '[Name]'")
                }
                sections.append(Section(name: Self.text(line.dropFirst().dropLast()), line: number, entries: []))
                continue
            }
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { Self.text(Self.trimmed($0)) }
            guard parts.count == 2, !parts[0].isEmpty else { throw wrong(number, "a setting is 'Key=value'") }
            guard !sections.isEmpty else { throw wrong(number, "'\(parts[0])' stands before the first section") }
            sections[sections.count - 1].entries.append(Entry(key: parts[0], value: parts[1], line: number))
        }
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var text = text
        while let first = text.first, isBlank(first) { text.removeFirst() }
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private static func text(_ bytes: Substring.UTF8View) -> String { String(Substring(bytes)) }

    /// Parses the bytes of a file.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the file, or, if it is too large, one byte more than the limit.
    ///   - path: The path of the file, for errors.
    /// - Throws: `param` with the line of the error.
    package init(_ bytes: [UInt8], path: String) throws(CofferError) {
        guard bytes.count <= Limits.configurationBytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(path)) is not a configuration file: "
                    + "expected text of at most \(Limits.configurationBytes) bytes"
            )
        }
        try self.init(text, path: path)
    }

    /// The error for a line.
    ///
    /// - Parameters:
    ///   - line: The line, from 1.
    ///   - why: What is wrong there.
    package func wrong(_ line: Int, _ why: String, hint: String? = nil) -> CofferError {
        CofferError(.param, "\(quotedForDisplay(path)), line \(line): \(why)", hint: hint)
    }

    /// Parses a value, and adds the line to its errors.
    ///
    /// - Parameters:
    ///   - entry: The setting.
    ///   - body: Parses the value.
    package func value<Value>(
        of entry: Entry,
        _ body: (String) throws(CofferError) -> Value
    ) throws(CofferError) -> Value {
        do { return try body(entry.value) } catch {
            throw wrong(entry.line, "\(entry.key): \(error.message)", hint: error.hint)
        }
    }

    /// The error for an unknown setting.
    ///
    /// - Parameters:
    ///   - entry: The setting.
    ///   - section: Its section.
    ///   - known: The settings that the section can have.
    package func unknown(_ entry: Entry, in section: Section, known: [String]) -> CofferError {
        wrong(
            entry.line,
            "there is no setting \(quotedForDisplay(entry.key)) in [\(section.name)]",
            hint: "there are " + known.joined(separator: ", ")
        )
    }
}
