import CofferCore
import CofferService
import CofferSystem
import Glibc

/// The command line of the daemon.
///
/// Read by hand: a daemon that is started by its first request can't wait the milliseconds that swift-argument-parser
/// takes, and `getopt_long` can't be called from Swift.
struct Options {
    private var socket: String?
    private var state: String?
    private var graceSeconds = Limits.defaultGraceSeconds

    private static let usage = """
        usage: cofferd [--socket PATH] [--state DIR] [--grace SECONDS]

          --socket PATH     where to listen, if the service manager passes no socket
                            ($XDG_RUNTIME_DIR/coffer/coffer.sock or /run/coffer/coffer.sock)
          --state DIR       where the vault is ($STATE_DIRECTORY, or
                            $XDG_STATE_HOME/coffer, or /var/lib/coffer for root)
          --grace SECONDS   from a lock to the end of class A (\(Limits.defaultGraceSeconds); 0 to \
        \(Limits.maximumGraceSeconds))
          --version         print the version
          --help            print this

        """

    init(_ arguments: [String]) throws {
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch argument {
            case "--help": Self.leave(printing: Self.usage)
            case "--version": Self.leave(printing: "cofferd \(Version.program)\n")
            default: try take(parts[0], parts.count == 2 ? parts[1] : rest.popFirst())
            }
        }
    }

    private mutating func take(_ flag: String, _ value: String?) throws {
        guard ["--grace", "--socket", "--state"].contains(flag) else {
            throw CofferError(.param, "unknown option \(quotedForDisplay(flag))", hint: "cofferd --help")
        }
        guard let value, !value.isEmpty else {
            throw CofferError(.param, "\(flag) wants a value", hint: "cofferd --help")
        }
        switch flag {
        case "--socket": socket = value
        case "--state": state = value
        default:
            guard let seconds = Int(value), (0...Limits.maximumGraceSeconds).contains(seconds) else {
                throw CofferError(
                    .param,
                    "--grace \(quotedForDisplay(value)): expected a whole number from 0 to \(Limits.maximumGraceSeconds)"
                )
            }
            graceSeconds = seconds
        }
    }

    private static func leave(printing text: String) -> Never {
        Daemon.write(text, to: STDOUT_FILENO)
        exit(0)
    }

    // MARK: Places

    /// What the server is told.
    func configuration() throws -> Configuration {
        Configuration(
            statePath: try statePath(),
            ownerID: geteuid(),
            credentialsPath: Self.environment("CREDENTIALS_DIRECTORY"),
            graceSeconds: graceSeconds
        )
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
