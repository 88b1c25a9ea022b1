internal import CofferCore

/// The last part of a path: equal to another one as bytes.
package struct FileName: Hashable, Sendable {
    /// The text.
    package let text: String

    /// Checks a name that the kernel passes.
    ///
    /// - Parameter bytes: The bytes; the kernel has checked that there is no slash and no NUL in them.
    /// - Throws: `ENAMETOOLONG`; `EILSEQ` if they are not UTF-8.
    package init(_ bytes: Span<UInt8>) throws(Errno) {
        if bytes.count > Limits.nameComponentBytes { throw .nameTooLong }
        guard let text = String(checking: bytes) else { throw .notUTF8 }
        self.text = text
    }

    /// Takes a part of a name of the vault.
    package init(_ text: String) { self.text = text }

    /// Whether the bytes are the same.
    package static func == (one: FileName, other: FileName) -> Bool { one.text.hasSameBytes(as: other.text) }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}
