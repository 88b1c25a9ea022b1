import CofferCore
import CofferService
import CofferSystem
import Glibc

/// The command line of the daemon.
///
/// Read by hand: a daemon that is started by its first request can't wait the milliseconds that swift-argument-parser
/// takes, and `getopt_long` can't be called from Swift.
struct Options {
    /// Where the configuration file is, if one was named.
    private var configurationPath: String?
    private(set) var configurationFile: ConfigurationFile?
    /// Where the entitlements are, if not in the usual places.
    private var entitlementPath: String?
    private var socket: String?
    /// Where service managers ask for credentials, if the service manager passes no socket for them.
    private(set) var credentialSocket: String?
    private var credentialWaitSeconds = 0
    private var state: String?
    /// Whether the keys of class C are kept over a restart, in the service manager's descriptor store.
    private(set) var carriesOver = false
    /// Whether what is done is told to the journal as well as to the vault's own audit.
    private(set) var tellsJournal = true
    private var lockPolicy = LockSchedule.Policy()
    private var locksOnLastDisconnect = false
    /// Seconds without a connection, after which the daemon ends; `nil` for never.
    private(set) var idleExitSeconds: Int?
    private var presencePolicy = Presence.Policy()
    /// As a daemon is expected to, if nothing is said.
    private var locksOnLogout: Bool?
    /// Whether the configuration is only to be looked at.
    private(set) var isCheck = false

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
            switch argument {
            case "--help": Self.leave(printing: DaemonOption.usage)
            case "--carry-over", "--lock-on-last-disconnect", "--no-journal": set(argument, true)
            case "--check": isCheck = true
            case "--version": Self.leave(printing: "cofferd \(Version.program)\n")
            default: try take(parts[0], parts.count == 2 ? parts[1] : rest.popFirst())
            }
        }
    }

    // MARK: The configuration

    /// Looked for before anything else is read: what stands beside it comes before what is in it.
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

    /// The user's own, or else the machine's.
    private static func defaultConfigurationPath() -> String? {
        let candidates = [configurationHome(), "/etc"].compactMap { $0.map { $0 + "/coffer/cofferd.conf" } }
        return candidates.first { unsafe access($0, F_OK) == 0 }
    }

    /// Reads the configuration file and takes its settings.
    private mutating func takeConfiguration() throws(CofferError) -> ConfigurationFile? {
        guard let path = configurationPath ?? Self.defaultConfigurationPath(),
            let file = try ConfigurationFile.read(at: path)
        else { return nil }
        try take(file)
        return file
    }

    /// Reads the configuration file again, which may have changed, come or gone.
    ///
    /// What counts at the start only is looked at, too: a file is right as a whole, or refused.
    func rereadConfiguration() throws(CofferError) -> ConfigurationFile? {
        var options = self
        return try options.takeConfiguration()
    }

    /// Reads who may do what.
    func readEntitlements() throws(CofferError) -> [Entitlement] {
        let usual = Entitlement.directories(home: Self.configurationHome())
        return try Entitlement.read(in: entitlementPath.map { [$0] } ?? usual)
    }

    private mutating func take(_ file: ConfigurationFile) throws(CofferError) {
        for section in file.sections {
            switch section.name {
            case "Service": for entry in section.entries { try take(entry, in: section, of: file) }
            case "Routing", "Default": continue
            default:
                throw file.wrong(
                    section.line,
                    "there is no section [\(section.name)]",
                    hint: "there are [Service], [Routing] and [Default]"
                )
            }
        }
    }

    private mutating func take(
        _ entry: ConfigurationFile.Entry,
        in section: ConfigurationFile.Section,
        of file: ConfigurationFile
    ) throws(CofferError) {
        guard let option = DaemonOption.all.first(where: { $0.setting == entry.key }) else {
            throw file.unknown(entry, in: section, known: DaemonOption.all.compactMap(\.setting))
        }
        if option.value == nil {
            guard let isOn = ["yes": true, "no": false][entry.value] else {
                throw file.wrong(entry.line, "\(entry.key): expected 'yes' or 'no'")
            }
            set(option.flag, isOn != option.isDenial)
        } else {
            do throws(CofferError) {
                try take(option.flag, entry.value)
            } catch {
                throw file.wrong(entry.line, error.message, hint: error.hint)
            }
        }
    }

    // MARK: The command line

    private mutating func set(_ flag: String, _ isOn: Bool) {
        switch flag {
        case "--carry-over": carriesOver = isOn
        case "--no-journal": tellsJournal = !isOn
        default: locksOnLastDisconnect = isOn
        }
    }

    private mutating func take(_ flag: String, _ value: @autoclosure () -> String?) throws(CofferError) {
        switch flag {
        case "--config": configurationPath = try Self.text(flag, value())
        case "--entitlements": entitlementPath = try Self.text(flag, value())
        case "--socket": socket = try Self.text(flag, value())
        case "--credential-socket": credentialSocket = try Self.text(flag, value())
        case "--credential-wait":
            credentialWaitSeconds = try Self.seconds(flag, value(), upTo: Limits.maximumCredentialWaitSeconds)
        case "--state": state = try Self.text(flag, value())
        case "--grace": lockPolicy.graceSeconds = try Self.seconds(flag, value(), upTo: Limits.maximumGraceSeconds)
        case "--inactive-after": lockPolicy.inactiveAfterSeconds = try Self.seconds(flag, value())
        case "--lock-after": lockPolicy.lockAfterSeconds = try Self.secondsOrNever(flag, value())
        case "--idle-exit": idleExitSeconds = try Self.secondsOrNever(flag, value())
        case "--lock-on-sleep": presencePolicy.locksOnSleep = try Self.decision(flag, value())
        case "--lock-on-session-lock": presencePolicy.locksOnSessionLock = try Self.decision(flag, value())
        case "--lock-on-logout": locksOnLogout = try Self.decision(flag, value())
        case "--forget-after": lockPolicy.forgetAfterSeconds = try Self.secondsOrNever(flag, value())
        default: throw CofferError(.param, "unknown option \(quotedForDisplay(flag))", hint: "cofferd --help")
        }
    }

    private static func text(_ flag: String, _ value: String?) throws(CofferError) -> String {
        guard let value, !value.isEmpty else {
            throw CofferError(.param, "\(flag) wants a value", hint: "cofferd --help")
        }
        return value
    }

    private static func seconds(
        _ flag: String,
        _ value: String?,
        upTo maximum: Int = Limits.maximumLockDelaySeconds
    ) throws(CofferError) -> Int {
        let value = try text(flag, value)
        guard let seconds = Int(value), (0...maximum).contains(seconds) else {
            throw CofferError(
                .param,
                "\(flag) \(quotedForDisplay(value)): expected a whole number from 0 to \(maximum)"
            )
        }
        return seconds
    }

    /// As seconds; 0 stands for never.
    private static func secondsOrNever(_ flag: String, _ value: String?) throws(CofferError) -> Int? {
        let seconds = try seconds(flag, value)
        return seconds == 0 ? nil : seconds
    }

    private static func decision(_ flag: String, _ value: String?) throws(CofferError) -> Bool {
        let value = try text(flag, value)
        guard let decision = ["yes": true, "no": false][value] else {
            throw CofferError(.param, "\(flag) \(quotedForDisplay(value)): expected 'yes' or 'no'")
        }
        return decision
    }

    private static func leave(printing text: Line) -> Never {
        Daemon.write(text, to: STDOUT_FILENO)
        exit(0)
    }

    // MARK: Places

    /// What the server is told.
    func configuration() throws -> Configuration {
        var configuration = Configuration(
            statePath: try statePath(),
            daemon: try PeerUnits.identifyDaemon(),
            credentialsPath: Self.environment("CREDENTIALS_DIRECTORY"),
            lockPolicy: lockPolicy
        )
        configuration.locksOnLastDisconnect = locksOnLastDisconnect
        configuration.presencePolicy = presencePolicy
        // An admin unlocks the system's vault and goes: it is there for services.
        configuration.presencePolicy.locksOnLogout = locksOnLogout ?? (configuration.daemon.loginUserID != nil)
        configuration.credentialWaitSeconds = credentialWaitSeconds
        configuration.identify = PeerUnits.identify
        configuration.entitlements = try readEntitlements()
        if let configurationFile { try configuration.take(configurationFile) }
        return configuration
    }

    /// Where to listen, its directory made.
    func socketPath() throws -> String {
        if let socket { return socket }
        let directory = Self.environment("XDG_RUNTIME_DIR").map { $0 + "/coffer" } ?? "/run/coffer"
        do {
            _ = try Directory(makingPath: directory)
        } catch {
            throw error.cofferError("can't make \(quotedForDisplay(directory))")
        }
        return directory + "/coffer.sock"
    }

    private func statePath() throws -> String {
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
