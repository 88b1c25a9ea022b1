/// The name of an item: a path such as `github.com/token`, one namespace over both stores.
///
/// 1 to 4096 bytes of UTF-8; components of 1 to 255 bytes between single slashes; no NUL; no component `.` or `..`.
public struct ItemName: Hashable, Sendable {
    /// The whole path.
    public let path: String

    /// Checks a name.
    ///
    /// - Parameter path: The path.
    /// - Throws: `param`, saying what is wrong with it.
    public init(_ path: String) throws(CofferError) {
        if let fault = Self.fault(in: path) {
            throw CofferError(.param, "bad name: \(fault)", hint: "a name is a path such as 'github.com/token'")
        }
        self.path = path
    }

    private static func fault(in path: String) -> String? {
        let bytes = path.utf8
        if bytes.isEmpty { return "it is empty" }
        if bytes.count > Limits.nameBytes { return "it has \(bytes.count) bytes, more than \(Limits.nameBytes)" }
        if bytes.contains(0) { return "it contains a NUL byte" }
        for component in bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if component.isEmpty { return "it begins or ends with a slash, or has two in a row" }
            if component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8) {
                return "'.' and '..' have no meaning here"
            }
            if component.count > Limits.nameComponentBytes {
                return "a part of it has \(component.count) bytes, more than \(Limits.nameComponentBytes)"
            }
        }
        return nil
    }

    /// The parts between the slashes.
    public var components: [Substring] { path.split(separator: "/") }

    /// The generic password that the name stands for in the keychain: the service is all before the last slash.
    public var service: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }

    /// The generic password that the name stands for in the keychain: the account is the last part.
    public var account: String { path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path }

    /// The name in single quotes, control characters made visible, for a sentence.
    public var quoted: String { quotedForDisplay(path) }
}

/// Puts a value in single quotes for a sentence: control characters are escaped, and a long one is cut.
///
/// - Parameter value: The value, from whatever source.
/// - Returns: At most about 80 characters.
public func quotedForDisplay(_ value: String) -> String {
    let limit = 76
    var words = "'"
    for scalar in value.unicodeScalars.prefix(limit) {
        let isControl = scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
        words += isControl ? scalar.escaped(asASCII: true) : String(scalar)
    }
    return words + (value.unicodeScalars.count > limit ? "…'" : "'")
}
