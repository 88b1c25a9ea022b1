/// A configuration file, in the syntax of systemd.syntax(7): sections in brackets, `Key=value` on a line, and comments.
///
/// What is wrong in it is told with its line; nothing that is not understood is passed over.
package struct ConfigurationFile: Sendable {
    /// One setting.
    package struct Entry: Sendable {
        /// The text before the equals sign.
        package let key: String
        /// The text behind it.
        package let value: String
        /// Where it stands, from 1.
        package let line: Int
    }

    /// One section; a name may come several times.
    package struct Section: Sendable {
        /// The text in the brackets.
        package let name: String
        /// Where it begins, from 1.
        package let line: Int
        /// What is set in it.
        package fileprivate(set) var entries: [Entry]
    }

    /// Where it is.
    package let path: String
    /// What is in it, in order.
    package private(set) var sections: [Section] = []

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - path: Where it is from, for what is said of it.
    /// - Throws: `param` with the line that is wrong.
    package init(_ text: String, path: String) throws(CofferError) {
        self.path = path
        var number = 0
        // With a carriage return before it, a line feed is one character, and another one.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
            number += 1
            let line = Self.trimmed(line)
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("[") {
                guard line.hasSuffix("]"), line.count > 2 else { throw wrong(number, "a section is '[Name]'") }
                sections.append(Section(name: String(line.dropFirst().dropLast()), line: number, entries: []))
                continue
            }
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
            guard parts.count == 2, !parts[0].isEmpty else { throw wrong(number, "a setting is 'Key=value'") }
            guard !sections.isEmpty else { throw wrong(number, "'\(parts[0])' stands before the first section") }
            sections[sections.count - 1].entries.append(
                Entry(key: String(parts[0]), value: String(parts[1]), line: number)
            )
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" || first == "\r" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" || last == "\r" { text.removeLast() }
        return text
    }

    /// Reads the bytes of a file.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, one more than there may be at most where there are more.
    ///   - path: Where they are from.
    /// - Throws: `param` with the line that is wrong.
    package init(_ bytes: [UInt8], path: String) throws(CofferError) {
        guard bytes.count <= Limits.configurationBytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw CofferError(
                .param,
                "\(quotedForDisplay(path)) is no configuration: "
                    + "expected text of at most \(Limits.configurationBytes) bytes"
            )
        }
        try self.init(text, path: path)
    }

    /// What is wrong at a line.
    ///
    /// - Parameters:
    ///   - line: The line, from 1.
    ///   - why: What is wrong there.
    package func wrong(_ line: Int, _ why: String, hint: String? = nil) -> CofferError {
        CofferError(.param, "\(quotedForDisplay(path)), line \(line): \(why)", hint: hint)
    }

    /// Reads a value, and tells its line where it is none.
    ///
    /// - Parameters:
    ///   - entry: The setting.
    ///   - body: Reads its value.
    package func value<Value>(
        of entry: Entry,
        _ body: (String) throws(CofferError) -> Value
    ) throws(CofferError) -> Value {
        do { return try body(entry.value) } catch {
            throw wrong(entry.line, "\(entry.key): \(error.message)", hint: error.hint)
        }
    }

    /// A setting that is not known where it stands.
    ///
    /// - Parameters:
    ///   - entry: The setting.
    ///   - section: Where it stands.
    ///   - known: What may stand there.
    package func unknown(_ entry: Entry, in section: Section, known: [String]) -> CofferError {
        wrong(
            entry.line,
            "there is no setting \(quotedForDisplay(entry.key)) in [\(section.name)]",
            hint: "there are " + known.joined(separator: ", ")
        )
    }
}
