internal import CCofferShims
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
        let pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let child = unsafe coffer_spawn_detached(path, pointers)
        let code = errno
        unsafe pointers.forEach { unsafe free($0) }
        guard child > 0 else { throw SystemError("spawn", code: code) }
        processID = child
    }

    /// Whether it has exited.
    package var hasEnded: Bool {
        var status: Int32 = 0
        return unsafe waitpid(processID, &status, WNOHANG) == processID
    }
}
