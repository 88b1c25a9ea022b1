import CofferCore
import CofferService
import CofferSystem
import Glibc

/// The files that configure the daemon.
struct ConfigurationFiles {
    /// The path of the configuration file, if it was given.
    var path: String?
    /// The configuration that was read at the start.
    var configuration: ConfigurationFile?
    /// The directory of the entitlements, if it was given.
    var entitlementPath: String?

    init(_ arguments: [String]) { path = Self.path(in: arguments) }

    /// Searched for before the other options, since they override the settings in the file.
    private static func path(in arguments: [String]) -> String? {
        for (index, argument) in arguments.enumerated() {
            if argument == "--config" { return arguments.dropFirst(index + 1).first ?? "" }
            if argument.hasPrefix("--config=") { return String(argument.dropFirst("--config=".count)) }
        }
        return nil
    }

    private static func home() -> String? {
        Options.environment("XDG_CONFIG_HOME") ?? Options.environment("HOME").map { $0 + "/.config" }
    }

    /// The user's own file, or the machine's.
    private static func defaultPath() -> String? {
        let candidates = [home(), "/etc"].compactMap { $0.map { $0 + "/coffer/cofferd.conf" } }
        return candidates.first { unsafe access($0, F_OK) == 0 }
    }

    /// Reads the configuration file; `nil` if there is none.
    func readConfiguration() throws(CofferError) -> ConfigurationFile? {
        guard let path = path ?? Self.defaultPath() else { return nil }
        return try ConfigurationFile.read(at: path)
    }

    func readEntitlements() throws(CofferError) -> [Entitlement] {
        let usual = Entitlement.directories(home: Self.home())
        let directories = entitlementPath.map { [$0] } ?? usual
        let files = try TrustedFiles.read(inAll: directories, suffix: ".conf", upTo: Limits.configurationBytes)
        return try Entitlement.all(
            in: files,
            ofVaultOf: geteuid(),
            userID: UserDatabase.findUser,
            groupID: UserDatabase.findGroup,
            warn: { Daemon.write("warning: \($0)\n", to: STDERR_FILENO) }
        )
    }
}
