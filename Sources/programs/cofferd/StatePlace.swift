import CofferCore
import CofferSystem
import Glibc

/// The place of the vault on the disk.
struct StatePlace {
    /// The state directory, if it was given.
    var given: String?
    /// The directory that is removed at the end, with the state directory in it.
    var scratch: String?

    /// The state directory; it may not exist yet.
    func path() throws -> String {
        if let given { return given.hasPrefix("/") ? given : "\(try Self.workingDirectory())/\(given)" }
        if let passed = Options.environment("STATE_DIRECTORY") { return passed }
        if geteuid() == 0 { return "/var/lib/coffer" }
        if let base = Options.environment("XDG_STATE_HOME") { return base + "/coffer" }
        if let home = Options.environment("HOME") { return home + "/.local/state/coffer" }
        throw CofferError(.param, "no state directory is given, and $HOME is not set", hint: "cofferd --state DIR")
    }

    private static func workingDirectory() throws -> String {
        guard let path = unsafe getcwd(nil, 0) else { throw SystemError("getcwd") }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Takes the directory that is removed at the end, if there is one.
    func takeScratch() throws -> ServedScratch? { try scratch.map { try ServedScratch($0, of: path()) } }
}
