package import CofferClient

/// A secret, or one field of it, as a command line or a file names it: `NAME[#FIELD]`.
///
/// What follows the last `#` is the field; after a `#` at the end there is none, so that a name may contain one.
package struct SecretReference: Hashable {
    package let name: ItemName
    package let field: String?

    init(_ name: ItemName, field: String? = nil) {
        self.name = name
        self.field = field
    }

    /// Reads a reference.
    ///
    /// - Throws: `param` if the name is none.
    package init(argument: String) throws(CofferError) {
        let bytes = argument.utf8
        let mark = bytes.lastIndex(of: UInt8(ascii: "#"))
        let field = mark.map { String(argument[bytes.index(after: $0)...]) } ?? ""
        self.init(
            try ItemName(argument: mark.map { String(argument[..<$0]) } ?? argument),
            field: field.isEmpty ? nil : field
        )
    }

    /// The reference in quotes, for a message.
    package var quoted: String { quotedForDisplay(field.map { "\(name.path)#\($0)" } ?? name.path) }
}
