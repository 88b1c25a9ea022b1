package import CofferCore
internal import CofferSystem

extension ConfigurationFile {
    /// Reads a file.
    ///
    /// - Parameter path: Where it is.
    /// - Returns: `nil` where there is none.
    /// - Throws: `param` with the line that is wrong; `io` where it can't be read.
    package static func read(at path: String) throws(CofferError) -> ConfigurationFile? {
        do {
            switch try OwnedDescriptor(openingIfPresent: path) {
            case .none: return nil
            case .some(let file):
                return try ConfigurationFile(try file.content(upTo: Limits.configurationBytes), path: path)
            }
        } catch let error as CofferError {
            throw error
        } catch {
            throw CofferError(mapping: error, "can't read \(quotedForDisplay(path))")
        }
    }
}
