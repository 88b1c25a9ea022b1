internal import CofferClient
internal import CofferSecretFormats
internal import CofferSystem
internal import CofferTerminal

extension EnvironmentFile {
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
}
