internal import CofferCore

/// The last part of a path, as the kernel passes it.
package struct FileName: Sendable {
    /// The text.
    package let text: String

    /// Checks a name.
    ///
    /// - Parameter bytes: The bytes; the kernel has checked that there is no slash and no NUL in them.
    /// - Throws: `ENAMETOOLONG`; `EILSEQ` if they are not UTF-8; `EINVAL` for what is no name of an entry.
    package init(_ bytes: Span<UInt8>) throws(Errno) {
        if bytes.count > Limits.nameComponentBytes { throw .nameTooLong }
        guard let text = String(checking: bytes) else { throw .notUTF8 }
        if ["", ".", ".."].contains(text) || text.utf8.contains(UInt8(ascii: "/")) { throw .invalid }
        self.text = text
    }
}
