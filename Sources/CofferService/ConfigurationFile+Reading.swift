package import CofferCore
internal import CofferSystem

extension ConfigurationFile {
    /// Reads a file, which says how to keep secrets: it has to be one that only root and our own user may write.
    ///
    /// - Parameter path: Where it is.
    /// - Returns: `nil` where there is none.
    /// - Throws: `param` with the line that is wrong, or if another user may write it; `io` where it can't be read.
    package static func read(at path: String) throws(CofferError) -> ConfigurationFile? {
        guard let file = try TrustedFiles.readIfPresent(at: path, upTo: Limits.configurationBytes) else { return nil }
        return try ConfigurationFile(file.bytes, path: path)
    }
}
