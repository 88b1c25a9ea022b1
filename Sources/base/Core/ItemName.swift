/// The name of an item: a path such as `github.com/token`, in one namespace for both stores.
///
/// 1 to 4096 bytes of UTF-8: components of 1 to 255 bytes between single slashes; no NUL; no component `.` or `..`.
public struct ItemName: Hashable, Sendable {
    /// The whole path.
    public let path: String

    /// Checks a name.
    ///
    /// - Throws: `param`, which says what is wrong with it.
    public init(_ path: String) throws(CofferError) {
        if let fault = Self.fault(in: path) {
            throw CofferError(
                .param,
                "bad name: \(fault.words)",
                hint: "a name is a path such as 'github.com/token'",
                reason: fault.isOfLength ? .nameTooLong : nil
            )
        }
        self.path = path
    }

    /// What is wrong with a text that is no name.
    private struct Fault {
        let words: String
        /// Whether it is too long.
        var isOfLength = false
    }

    private static func fault(in path: String) -> Fault? {
        let bytes = path.utf8
        if bytes.isEmpty { return Fault(words: "it is empty") }
        if bytes.count > Limits.nameBytes {
            return Fault(words: "it has \(bytes.count) bytes, more than \(Limits.nameBytes)", isOfLength: true)
        }
        // In one pass: a listing checks a hundred thousand names.
        let path = bytes.span
        var start = 0
        for index in 0...path.count {
            if index < path.count {
                if path[index] == 0 { return Fault(words: "it contains a NUL byte") }
                if path[index] != UInt8(ascii: "/") { continue }
            }
            if let fault = fault(inComponent: path.extracting(start..<index)) { return fault }
            start = index + 1
        }
        return nil
    }

    private static func fault(inComponent part: Span<UInt8>) -> Fault? {
        if part.isEmpty { return Fault(words: "it begins or ends with a slash, or has two in a row") }
        if part.count <= 2 && part.indices.allSatisfy({ part[$0] == UInt8(ascii: ".") }) {
            return Fault(words: "'.' and '..' have no meaning here")
        }
        if part.count <= Limits.nameComponentBytes { return nil }
        return Fault(
            words: "a part of it has \(part.count) bytes, more than \(Limits.nameComponentBytes)",
            isOfLength: true
        )
    }

    /// The parts between the slashes.
    public var components: [Substring] {
        // By bytes: a combining mark after a slash would form one character with it.
        path.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
    }

    /// The service of the generic password that the name denotes in the keychain: everything before the last slash.
    public var service: String { lastSlash.map { String(path[..<$0]) } ?? "" }

    /// The account of the generic password that the name denotes in the keychain: the last part.
    public var account: String { lastSlash.map { String(path[path.utf8.index(after: $0)...]) } ?? path }

    /// The service and the account, found together.
    package var serviceAndAccount: (service: String, account: String) {
        guard let slash = lastSlash else { return ("", path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }

    private var lastSlash: String.Index? {
        path.lastOffset(ofByte: UInt8(ascii: "/")).map { path.utf8.index(path.startIndex, offsetBy: $0) }
    }

    /// The name in single quotes for a sentence, with control characters escaped.
    public var quoted: String { quotedForDisplay(path) }

    /// Whether the bytes are the same: the stores compare names as bytes.
    public static func == (one: ItemName, other: ItemName) -> Bool { one.path.utf8.elementsEqual(other.path.utf8) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in path.utf8 { hasher.combine(byte) }
    }
}
