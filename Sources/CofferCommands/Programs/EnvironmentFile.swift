internal import CofferClient
internal import CofferSystem

/// A file of variables: lines `VAR=value`, of which those with `coffer://NAME[#FIELD]` stand for secrets.
///
/// The other values may be secrets too, so that they stay in locked memory.
enum EnvironmentFile {
    /// A variable, and the line that sets it.
    struct Variable {
        let name: String
        let line: Int
        let source: Provisions.Source
    }

    private static let scheme = "coffer://"

    /// Reads a file.
    ///
    /// - Throws: `param`, with the line that is wrong; `dataTooLarge`.
    static func variables(ofFile path: String) throws(CofferError) -> [Variable] {
        let limit = Limits.environmentFileBytes
        let file = try SecretInput.open(path)
        let text = Secret(try SecretInput.readAll(from: file.number, limit: limit + 1, quotedForDisplay(path)))
        guard text.count <= limit else {
            throw CofferError(.dataTooLarge, "\(quotedForDisplay(path)) has more than \(limit) bytes")
        }
        return try text.withBytes { (bytes) throws(CofferError) in try variables(in: bytes, of: path) }
    }

    private static func variables(in bytes: RawSpan, of path: String) throws(CofferError) -> [Variable] {
        var variables: [Variable] = []
        var (start, line) = (0, 0)
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

    private static func source(_ value: Secret) throws(CofferError) -> Provisions.Source {
        let start = 0..<scheme.utf8.count
        let isReference = value.withBytes { $0.byteCount >= start.count && $0.has(scheme.utf8, at: start) }
        // A reference names a secret, and is none.
        guard isReference else { return .value(value) }
        guard let text = value.exposeText() else { throw CofferError(.param, "the name of a secret is not UTF-8") }
        return .secret(try SecretReference(argument: String(text.dropFirst(scheme.count))))
    }
}
