internal import CofferClient

extension CofferError {
    /// The error for a file that is not of its format.
    static func malformed(_ finding: String, hint: String? = nil) -> CofferError {
        CofferError(.param, finding, hint: hint)
    }

    /// The error for attached files that are too large together.
    static var attachmentsTooLarge: CofferError {
        .tooLarge("the attached files have more than \(Limits.importFileBytes) bytes together")
    }

    /// The error for a file that exceeds a bound.
    static func tooLarge(_ finding: String) -> CofferError {
        CofferError(.dataTooLarge, finding, hint: "divide the file, or export fewer entries at a time")
    }
}
