internal import CofferSystem

/// The usual paths of a daemon's socket.
public enum SocketPath {
    /// The socket of the system's daemon.
    public static let system = "/run/coffer/coffer.sock"

    /// The socket that the environment names, or that of the user, or that of the system, in the order of
    /// `coffer`.
    ///
    /// Root has no socket of its own. This library itself does not read the environment.
    ///
    /// - Parameter environment: The variables, for example `ProcessInfo.processInfo.environment`.
    public static func usual(in environment: [String: String]) -> String { candidates { environment[$0] }[0] }

    /// The possible paths, the preferred one first.
    ///
    /// - Parameters:
    ///   - variable: Returns the value of an environment variable.
    ///   - userID: The user; by default that of this process.
    /// - Returns: At least one path; a path in `COFFER_SOCKET` is the only one, and so is the system's for root.
    package static func candidates(_ variable: (String) -> String?, userID: UInt32? = nil) -> [String] {
        if let path = variable("COFFER_SOCKET"), !path.isEmpty { return [path] }
        let own = RuntimeDirectory.own(variable, userID: userID)
        return (own.map { ["\($0)/coffer/coffer.sock"] } ?? []) + [system]
    }
}
