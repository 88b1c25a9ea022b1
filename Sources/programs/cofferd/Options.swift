import CofferCore
import CofferService
import CofferSystem
import Glibc

/// The command line of the daemon.
///
/// It is parsed by hand: swift-argument-parser takes milliseconds, for which the first request of a socket-activated
/// daemon would have to wait, and `getopt_long` can't be called from Swift.
struct Options {
    var files: ConfigurationFiles
    var sockets = ListeningSockets.Paths()
    var credentials = Configuration.Credentials()
    var place = StatePlace()
    /// Whether the keys of class C survive a restart, in the service manager's descriptor store; `nil` for the default,
    /// which depends on whether the service manager started the daemon.
    var carriesOver: Bool?
    /// The audit is also written to the journal.
    var journal = Configuration.Journaling(write: Journal().tell)
    var locking = Configuration.Locking()
    /// Seconds without a connection after which the daemon exits; `nil` for never.
    var idleExitSeconds: Int?
    var trashDays = Limits.defaultTrashDays
    var trashByteCount = Limits.defaultTrashBytes
    /// `nil` for the default, which depends on whether the daemon belongs to a login.
    var locksOnLogout: Bool?
    /// Whether to check the configuration only.
    var isCheck = false

    init(_ arguments: [String]) throws {
        files = ConfigurationFiles(arguments)
        files.configuration = try takeConfiguration()
        if let named = files.path, files.configuration == nil {
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

    /// Reads the configuration file and applies its settings.
    private mutating func takeConfiguration() throws(CofferError) -> ConfigurationFile? {
        guard let file = try files.readConfiguration() else { return nil }
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

    /// The configuration of the server.
    func configuration() throws -> Configuration {
        var configuration = Configuration(
            statePath: try place.path(),
            daemon: try PeerUnits.identifyDaemon(),
            credentialsPath: Self.environment("CREDENTIALS_DIRECTORY")
        )
        configuration.locking = locking
        configuration.endsOnLastDisconnect = place.scratch != nil
        configuration.trashDays = trashDays
        configuration.trashByteCount = trashByteCount
        // An administrator unlocks the system's vault and logs out; it has to stay open for the services.
        configuration.locking.presence.locksOnLogout = locksOnLogout ?? (configuration.daemon.loginUserID != nil)
        configuration.journal = journal
        configuration.credentials = credentials
        configuration.identify = PeerUnits.identify
        configuration.entitlements = try files.readEntitlements()
        if let file = files.configuration { try configuration.take(file) }
        return configuration
    }

    static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
