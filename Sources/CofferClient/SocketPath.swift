/// Where a daemon's socket usually is.
public enum SocketPath {
    /// The socket of the system's daemon.
    public static let system = "/run/coffer/coffer.sock"

    /// The socket that the environment names, the user's own, or the system's: as `coffer` looks for it.
    ///
    /// This library reads no environment by itself.
    ///
    /// - Parameter environment: The variables, such as `ProcessInfo.processInfo.environment`.
    public static func usual(in environment: [String: String]) -> String { candidates { environment[$0] }[0] }

    /// Where to look, the likeliest place first.
    ///
    /// - Parameter variable: The value of a variable of the environment.
    /// - Returns: One at least; one that was named is looked at alone.
    package static func candidates(_ variable: (String) -> String?) -> [String] {
        func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        if let path = value("COFFER_SOCKET") { return [path] }
        return (value("XDG_RUNTIME_DIR").map { ["\($0)/coffer/coffer.sock"] } ?? []) + [system]
    }
}
