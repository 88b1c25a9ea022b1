package import CofferCore
internal import CofferRouting
internal import CofferVault
internal import CofferSystem

extension Configuration {
    /// Takes what a configuration file says of routing.
    ///
    /// - Parameter file: The file.
    /// - Throws: `param` with the line that is wrong.
    package mutating func take(_ file: ConfigurationFile) throws(CofferError) {
        routingPolicy = try RoutingPolicy(file)
    }
}

extension Entitlement {
    /// Reads the entitlements of directories, in their order.
    ///
    /// - Parameter directories: The directories; one that is not there has none.
    /// - Throws: `param` with what is wrong, and where; `io`.
    package static func read(in directories: [String]) throws(CofferError) -> [Entitlement] {
        let files = try TrustedFiles.read(inAll: directories, suffix: ".conf", upTo: Limits.configurationBytes)
        return try all(in: files, userID: UserDatabase.userID)
    }
}
