package import CofferClient

/// A file of variables: lines `VAR=value`, of which those with `coffer://NAME[#FIELD]` stand for secrets.
///
/// The other values may be secrets too, so that they stay in locked memory.
package enum EnvironmentFile {
    /// A variable, and the line that sets it.
    package struct Variable {
        package let name: String
        package let line: Int
        package let source: VariableSource
    }

    private static let scheme = "coffer://"

    package static func variables(in bytes: RawSpan, of path: String) throws(CofferError) -> [Variable] {
        var variables: [Variable] = []
        var (start, line) = (bytes.textStart, 0)
        while start < bytes.byteCount {
            var end = start
            while end < bytes.byteCount && bytes.byte(at: end) != 10 { end += 1 }
            line += 1
            do throws(CofferError) {
                let range = bytes.trimmed(start..<end)
                if let variable = try variable(bytes.extracting(range), line) { variables.append(variable) }
            } catch {
                throw error.prefixed("\(quotedForDisplay(path)), line \(line): ")
            }
            start = end + 1
        }
        return variables
    }

    /// The variable that a line sets; `nil` if it is blank or a comment.
    private static func variable(_ text: RawSpan, _ line: Int) throws(CofferError) -> Variable? {
        if text.byteCount == 0 || text.byte(at: 0) == UInt8(ascii: "#") { return nil }
        guard let mark = (0..<text.byteCount).first(where: { text.byte(at: $0) == .equals }) else {
            // The line may be part of a secret, and is not repeated.
            throw CofferError(.param, "expected VAR=value, a comment or a blank line")
        }
        var name = text.text(text.trimmed(0..<mark))
        if name.hasPrefix("export ") { name = String(name.dropFirst(7)).trimmingBlanks }
        guard name.isVariableName else {
            throw CofferError(.param, "what is before '=' is no name of a variable", hint: "values are on one line")
        }
        let raw = text.extracting(text.trimmed((mark + 1)..<text.byteCount))
        return Variable(name: name, line: line, source: try source(try value(raw, of: name)))
    }

    private static func value(_ raw: RawSpan, of name: String) throws(CofferError) -> Secret {
        let end = try FieldText.shellValue(raw, of: name).upperBound
        let rest = raw.extracting(raw.trimmed(end..<raw.byteCount))
        guard rest.byteCount == 0 || rest.byte(at: 0) == UInt8(ascii: "#") else {
            throw CofferError(.param, "text follows the quotes of \(quotedForDisplay(name))")
        }
        return try FieldText.unquoted(raw, of: name)
    }

    private static func source(_ value: Secret) throws(CofferError) -> VariableSource {
        let start = 0..<scheme.utf8.count
        let isReference = value.withBytes { $0.byteCount >= start.count && $0.has(scheme.utf8, at: start) }
        // A reference names a secret, and is none.
        guard isReference else { return .value(value) }
        guard let text = value.exposeText() else { throw CofferError(.param, "the name of a secret is not UTF-8") }
        return .secret(try SecretReference(argument: String(text.dropFirst(scheme.count))))
    }
}

/// What a variable is set to.
package enum VariableSource {
    case secret(SecretReference)
    /// A value that the file of variables has itself.
    case value(Secret)
}

extension String {
    /// Whether it is the name of a variable, as a shell has them.
    package var isVariableName: Bool {
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        func isLetter(_ byte: UInt8) -> Bool {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        }
        return utf8.first.map(isLetter) == true && utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }
}
