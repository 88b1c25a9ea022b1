package import CofferClient

/// The formats that are exported.
package enum ExportFormat: String, CaseIterable, Sendable {
    case bitwarden
    case csv
    case cxf
    case dotenv
    case pass
    case age

    /// What it is, for the help and for `proto-docs/IMPORT.md`.
    package var summary: String {
        switch self {
        case .bitwarden: "Bitwarden's JSON"
        case .csv: "CSV with the columns of Bitwarden"
        case .cxf: "the JSON of FIDO's Credential Exchange Format"
        case .dotenv: "a file .env, each item a variable"
        case .pass: "a tree of pass, encrypted by gpg for the recipients"
        case .age: "Bitwarden's JSON, encrypted by age for the recipients"
        }
    }

    /// Whether the result is encrypted for recipients.
    package var isEncrypted: Bool { self == .pass || self == .age }

    /// Writes entries as one text.
    ///
    /// - Parameter seconds: The time of the export, in seconds since 1970.
    /// - Throws: `param` if the format can't hold one of them.
    package func text(of entries: [ExchangeEntry], at seconds: Int64) throws(CofferError) -> Secret {
        switch self {
        case .bitwarden, .age: try BitwardenWriter.text(of: entries)
        case .csv: try CSVWriter.text(of: entries)
        case .cxf: try CXFWriter.text(of: entries, at: seconds)
        case .dotenv: try DotenvWriter.text(of: entries)
        case .pass: throw .malformed("the format pass is a tree of files")
        }
    }
}
