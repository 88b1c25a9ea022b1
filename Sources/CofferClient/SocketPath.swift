/// The usual paths of a daemon's socket.
public enum SocketPath {
    /// The socket of the system's daemon.
    public static let system = "/run/coffer/coffer.sock"

    /// The socket that the environment names, or that of the user, or that of the system, in the order of
    /// `coffer`.
    ///
    /// This library itself does not read the environment.
    ///
    /// - Parameter environment: The variables, for example `ProcessInfo.processInfo.environment`.
    public static func usual(in environment: [String: String]) -> String { candidates { environment[$0] }[0] }

    /// The possible paths, the preferred one first.
    ///
    /// - Parameter variable: Returns the value of an environment variable.
    /// - Returns: At least one path; a path in `COFFER_SOCKET` is the only one.
    package static func candidates(_ variable: (String) -> String?) -> [String] {
        func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        if let path = value("COFFER_SOCKET") { return [path] }
        return (value("XDG_RUNTIME_DIR").map { ["\($0)/coffer/coffer.sock"] } ?? []) + [system]
    }
}
