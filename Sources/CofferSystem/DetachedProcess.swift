internal import CCofferShims
internal import Glibc

/// A program that is started to outlive this one.
package struct DetachedProcess {
    private let processID: pid_t

    /// Starts a program in a session of its own, in the root directory, without our streams: whoever waits for the end of
    /// our output would otherwise wait for the end of the program.
    ///
    /// - Parameters:
    ///   - path: The program; without a slash it is looked for in `$PATH`.
    ///   - arguments: Its arguments, its own name first.
    package init(path: String, arguments: [String]) throws(SystemError) {
        let pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let child = unsafe coffer_spawn_detached(path, pointers)
        let code = errno
        unsafe pointers.forEach { unsafe free($0) }
        guard child > 0 else { throw SystemError("spawn", code: code) }
        processID = child
    }

    /// Whether it has ended already.
    package var hasEnded: Bool {
        var status: Int32 = 0
        return unsafe waitpid(processID, &status, WNOHANG) == processID
    }
}
