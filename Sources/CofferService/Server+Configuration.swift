package import CofferCore
internal import CofferRouting

extension Configuration {
    /// Takes what a configuration file says of routing.
    ///
    /// - Parameter file: The file.
    /// - Throws: `param` with the line that is wrong.
    package mutating func take(_ file: ConfigurationFile) throws(CofferError) {
        routingPolicy = try RoutingPolicy(file)
    }
}

extension Server {
    /// Takes the configuration anew; where it is wrong, the last good one stays.
    ///
    /// - Parameter read: Reads it; `nil` where there is none any more.
    /// - Returns: What is wrong, if anything is.
    package func reload(_ read: () throws(CofferError) -> ConfigurationFile?) -> CofferError? {
        do throws(CofferError) {
            routingPolicy = try read().map { (file) throws(CofferError) in try RoutingPolicy(file) } ?? .standard
            configurationTrouble = nil
            return nil
        } catch {
            configurationTrouble = error.message
            return error
        }
    }
}
