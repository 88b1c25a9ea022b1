/// Where a daemon's socket usually is.
public enum SocketPath {
    /// The socket of the system's daemon.
    public static let system = "/run/coffer/coffer.sock"

    /// The socket that the environment names, the user's own, or the system's: as `coffer` looks for it.
    ///
    /// This library reads no environment by itself.
    ///
    /// - Parameter environment: The variables, such as `ProcessInfo.processInfo.environment`.
    public static func usual(in environment: [String: String]) -> String {
        if let path = environment["COFFER_SOCKET"], !path.isEmpty { return path }
        if let runtime = environment["XDG_RUNTIME_DIR"], !runtime.isEmpty { return "\(runtime)/coffer/coffer.sock" }
        return system
    }
}
