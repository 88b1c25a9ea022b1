internal import CCofferShims
internal import Glibc

/// What a process that holds secrets gives up before it holds any.
package enum ProcessHardening {
    /// No core dump, not attachable by others of the same user, no new privileges, files for the owner only; a broken pipe
    /// and a limit of the size of files are errors and not signals.
    package static func apply() throws(SystemError) {
        _ = try retrying("prctl") { coffer_harden_process() }
        umask(0o077)
        ignoreWriteSignals()
    }

    /// Has a write to a broken pipe fail with `EPIPE`, and one beyond the file-size limit with `EFBIG`: both signals would end
    /// the process.
    package static func ignoreWriteSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Fills the places of standard streams that were closed, so that no socket is taken for one.
    ///
    /// Comes before anything is opened.
    package static func openStandardStreams() throws(SystemError) {
        _ = try retrying("open") { coffer_open_standard_streams() }
    }
}
