package import CofferCore
internal import CofferRouting
internal import CofferSystem
internal import CofferVault

extension Configuration {
    /// Applies the routing of a configuration file.
    ///
    /// - Throws: `param` with the number of the line that is wrong.
    package mutating func take(_ file: ConfigurationFile) throws(CofferError) {
        routingPolicy = try RoutingPolicy(file)
    }
}

extension ConfigurationFile {
    /// Reads a configuration file, which only root and the daemon's user may be able to write.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: `param` with the number of the line that is wrong, or if another user can write the file; `io` if it
    ///   can't be read.
    package static func read(at path: String) throws(CofferError) -> ConfigurationFile? {
        guard let file = try TrustedFiles.readIfPresent(at: path, upTo: Limits.configurationBytes) else { return nil }
        return try ConfigurationFile(file.bytes, path: path)
    }
}
