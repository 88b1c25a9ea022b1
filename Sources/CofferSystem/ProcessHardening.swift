internal import CCofferShims
internal import Glibc

/// Restricts a process before it holds secrets.
package enum ProcessHardening {
    /// Hardens the process.
    ///
    /// No core dumps, no attaching by other processes of the same user, no new privileges, and files for the owner
    /// only. Broken pipes and the file-size limit become errors instead of signals.
    package static func apply() throws(SystemError) {
        _ = try retrying("prctl") { coffer_harden_process() }
        umask(0o077)
        ignoreWriteSignals()
    }

    /// Ignores the signals of failed writes, which would end the process.
    ///
    /// A write to a broken pipe fails with `EPIPE`, and one beyond the file-size limit with `EFBIG`.
    package static func ignoreWriteSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Ends the process as the signal of a write to a broken pipe does by default.
    package static func endByBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        // The parent may have blocked the signal.
        exit(128 + SIGPIPE)
    }

    /// Opens closed standard streams, so that no other descriptor gets their numbers.
    ///
    /// Must be called before anything else is opened.
    package static func openStandardStreams() throws(SystemError) {
        _ = try retrying("open") { coffer_open_standard_streams() }
    }
}
