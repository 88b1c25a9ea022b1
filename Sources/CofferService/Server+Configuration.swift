package import CofferCore
internal import CofferRouting
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

    /// Takes the entitlements anew, and decides of every connection once more; where they are wrong, the last good ones stay.
    ///
    /// - Parameter read: Reads them.
    /// - Returns: What is wrong, if anything is.
    package func reloadEntitlements(_ read: () throws(CofferError) -> [Entitlement]) -> CofferError? {
        do throws(CofferError) {
            accessPolicy.entitlements = try read()
            entitlementTrouble = nil
        } catch {
            entitlementTrouble = error.message
            return error
        }
        for (number, session) in sessions {
            let rights = try? rights(of: session.caller.identity)
            if rights?.isSame(as: session.caller.rights) == true { continue }
            // What it has open and asked for is of the rights that it had: it begins anew with those that it has.
            queueAnswers(of: session, number)
            session.revoke(
                CofferError(
                    .missingEntitlement,
                    "the entitlements have changed, and with them what you may do",
                    hint: "connect again"
                )
            )
        }
        return nil
    }

    /// What is wrong with the files that are read, of which the last good state is used.
    var trouble: String? {
        let troubles = [configurationTrouble, entitlementTrouble].compactMap { $0 }
        return troubles.isEmpty ? nil : troubles.joined(separator: "; ")
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
