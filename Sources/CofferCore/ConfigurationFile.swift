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
        // By bytes: a mark that combines would make one character of itself and the sign before it, and hide the sign.
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
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
