internal import CCofferShims
internal import Glibc

/// What a process that holds secrets gives up before it holds any.
package enum ProcessHardening {
    /// No core dump, not attachable by others of the same user, no new privileges, files for the owner only; a broken pipe
    /// is an error and not a signal.
    package static func apply() throws(SystemError) {
        _ = try retrying("prctl") { coffer_harden_process() }
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Fills the places of standard streams that were closed, so that no socket is taken for one.
    ///
    /// Comes before anything is opened.
    package static func openStandardStreams() throws(SystemError) {
        _ = try retrying("open") { coffer_open_standard_streams() }
    }
}
