package import CofferCore
internal import CofferRouting
internal import CofferVault
internal import CofferSystem

extension Configuration {
    /// Applies the routing of a configuration file.
    ///
    /// - Throws: `param` with the number of the line that is wrong.
    package mutating func take(_ file: ConfigurationFile) throws(CofferError) {
        routingPolicy = try RoutingPolicy(file)
    }
}

extension Entitlement {
    /// Reads the entitlements of directories, in the order given.
    ///
    /// - Parameter directories: The directories; a missing one has no entitlements.
    /// - Throws: `param` with the error and its place; `io`.
    package static func read(in directories: [String]) throws(CofferError) -> [Entitlement] {
        let files = try TrustedFiles.read(inAll: directories, suffix: ".conf", upTo: Limits.configurationBytes)
        return try all(in: files, userID: UserDatabase.userID)
    }
}
