internal import CCofferShims
package import CofferSystem
internal import Glibc

/// A program that outlives this process.
package struct DetachedProcess {
    private let processID: pid_t

    /// Starts a program in its own session, in the root directory.
    ///
    /// It does not inherit the standard streams: a reader of this process' output would wait for the end of the
    /// program.
    ///
    /// - Parameters:
    ///   - path: The program; without a slash it is searched for in `$PATH`.
    ///   - arguments: Its arguments, beginning with its name.
    package init(path: String, arguments: [String]) throws(SystemError) {
        processID = unsafe try spawn(arguments) { unsafe coffer_spawn_detached(path, $0) }
    }

    /// Whether it has exited.
    package var hasEnded: Bool {
        var status: Int32 = 0
        return unsafe waitpid(processID, &status, WNOHANG) == processID
    }
}

/// Starts a program.
///
/// - Parameters:
///   - arguments: Its arguments, beginning with its name.
///   - call: Starts it with these arguments.
func spawn(
    _ arguments: [String],
    _ call: ([UnsafeMutablePointer<CChar>?]) -> pid_t
) throws(SystemError) -> pid_t {
    let pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return try retrying("spawn") { unsafe call(pointers) }
}
