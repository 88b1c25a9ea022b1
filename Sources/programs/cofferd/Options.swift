import CofferCore
import CofferService
import CofferSystem
import Glibc

/// The command line of the daemon.
///
/// It is parsed by hand: swift-argument-parser takes milliseconds, for which the first request of a socket-activated
/// daemon would have to wait, and `getopt_long` can't be called from Swift.
struct Options {
    /// The path of the configuration file, if it was given.
    var configurationPath: String?
    private(set) var configurationFile: ConfigurationFile?
    /// The directory of the entitlements, if it was given.
    var entitlementPath: String?
    var socket: String?
    /// The path to listen at for requests of credentials, if the service manager passes no socket for them.
    var credentialSocket: String?
    var credentialWaitSeconds = 0
    var state: String?
    /// Whether the keys of class C survive a restart, in the service manager's descriptor store; `nil` for the default,
    /// which depends on whether the service manager started the daemon.
    var carriesOver: Bool?
    /// Whether the audit is also written to the journal.
    var tellsJournal = true
    /// Whether the journal gets granted reads.
    var readsInJournal = false
    /// Whether the journal gets the names of items.
    var namesInJournal = false
    var lockPolicy = LockSchedule.Policy()
    var locksOnLastDisconnect = false
    /// The directory that is removed at the end, with the state directory in it.
    var scratch: String?
    /// Seconds without a connection after which the daemon exits; `nil` for never.
    var idleExitSeconds: Int?
    var trashDays = Limits.defaultTrashDays
    var trashByteCount = Limits.defaultTrashBytes
    var presencePolicy = Presence.Policy()
    /// `nil` for the default, which depends on whether the daemon belongs to a login.
    var locksOnLogout: Bool?
    /// Whether to check the configuration only.
    var isCheck = false

    init(_ arguments: [String]) throws {
        let named = Self.configurationPath(in: arguments)
        configurationPath = named
        configurationFile = try takeConfiguration()
        if let named, configurationFile == nil {
            throw CofferError(.param, "there is no file \(quotedForDisplay(named))", hint: "cofferd --help")
        }
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let option = DaemonOption.all.first { $0.flag == parts[0] }
            guard let option, option.value != nil || parts.count == 1 else {
                throw CofferError(.param, "unknown option \(quotedForDisplay(parts[0]))", hint: "cofferd --help")
            }
            try option.take(parts.count == 2 ? parts[1] : rest.popFirst(), into: &self)
        }
    }

    // MARK: The configuration

    /// Searched for before the other options, since they override the settings in the file.
    private static func configurationPath(in arguments: [String]) -> String? {
        for (index, argument) in arguments.enumerated() {
            if argument == "--config" { return arguments.dropFirst(index + 1).first ?? "" }
            if argument.hasPrefix("--config=") { return String(argument.dropFirst("--config=".count)) }
        }
        return nil
    }

    private static func configurationHome() -> String? {
        environment("XDG_CONFIG_HOME") ?? environment("HOME").map { $0 + "/.config" }
    }

    /// The user's own file, or the machine's.
    private static func defaultConfigurationPath() -> String? {
        let candidates = [configurationHome(), "/etc"].compactMap { $0.map { $0 + "/coffer/cofferd.conf" } }
        return candidates.first { unsafe access($0, F_OK) == 0 }
    }

    /// Reads the configuration file and applies its settings.
    private mutating func takeConfiguration() throws(CofferError) -> ConfigurationFile? {
        guard let path = configurationPath ?? Self.defaultConfigurationPath(),
            let file = try ConfigurationFile.read(at: path)
        else { return nil }
        try take(file)
        return file
    }

    /// Reads the configuration file again, which may have been changed, created or removed.
    ///
    /// Settings that only apply at the start are checked too: a file with any error is refused.
    func rereadConfiguration() throws(CofferError) -> ConfigurationFile? {
        var options = self
        return try options.takeConfiguration()
    }

    func readEntitlements() throws(CofferError) -> [Entitlement] {
        let usual = Entitlement.directories(home: Self.configurationHome())
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

    private mutating func take(_ file: ConfigurationFile) throws(CofferError) {
        for section in file.sections where section.name != "Routing" && section.name != "Default" {
            guard section.name == "Service" else {
                throw file.wrong(
                    section.line,
                    "there is no section [\(section.name)]",
                    hint: "there are [Service], [Routing] and [Default]"
                )
            }
            for entry in section.entries {
                guard let option = DaemonOption.all.first(where: { $0.setting == entry.key }) else {
                    throw file.unknown(entry, in: section, known: DaemonOption.all.compactMap(\.setting))
                }
                try option.take(entry, of: file, into: &self)
            }
        }
    }

    /// Prints a text, and exits.
    static func leave(printing text: Line) -> Never {
        Daemon.write(text, to: STDOUT_FILENO)
        exit(0)
    }

    // MARK: Places

    /// The configuration of the server.
    func configuration() throws -> Configuration {
        var configuration = Configuration(
            statePath: try statePath(),
            daemon: try PeerUnits.identifyDaemon(),
            credentialsPath: Self.environment("CREDENTIALS_DIRECTORY"),
            lockPolicy: lockPolicy
        )
        configuration.locksOnLastDisconnect = locksOnLastDisconnect
        configuration.endsOnLastDisconnect = scratch != nil
        configuration.trashDays = trashDays
        configuration.trashByteCount = trashByteCount
        configuration.presencePolicy = presencePolicy
        // An administrator unlocks the system's vault and logs out; it has to stay open for the services.
        configuration.presencePolicy.locksOnLogout = locksOnLogout ?? (configuration.daemon.loginUserID != nil)
        configuration.journalHasReads = readsInJournal
        configuration.journalHasNames = namesInJournal
        configuration.credentialWaitSeconds = credentialWaitSeconds
        configuration.identify = PeerUnits.identify
        configuration.entitlements = try readEntitlements()
        if let configurationFile { try configuration.take(configurationFile) }
        return configuration
    }

    /// The path to listen at; its directory is created.
    func socketPath() throws -> String {
        if let socket { return socket }
        let directory = (RuntimeDirectory.own(Self.environment) ?? "/run") + "/coffer"
        do {
            _ = try Directory(makingPath: directory)
        } catch {
            throw error.cofferError("can't make \(quotedForDisplay(directory))")
        }
        return directory + "/coffer.sock"
    }

    /// The state directory; it may not exist yet.
    func statePath() throws -> String {
        if let state { return state.hasPrefix("/") ? state : "\(try Self.workingDirectory())/\(state)" }
        if let given = Self.environment("STATE_DIRECTORY") { return given }
        if geteuid() == 0 { return "/var/lib/coffer" }
        if let base = Self.environment("XDG_STATE_HOME") { return base + "/coffer" }
        if let home = Self.environment("HOME") { return home + "/.local/state/coffer" }
        throw CofferError(.param, "no state directory is given, and $HOME is not set", hint: "cofferd --state DIR")
    }

    private static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    private static func workingDirectory() throws -> String {
        guard let path = unsafe getcwd(nil, 0) else { throw SystemError("getcwd") }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }
}
