internal import CCofferShims
internal import Glibc
internal import Synchronization

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
        for number in [SIGPIPE, SIGXFSZ] where coffer_signal_is_ignored(number) == 0 {
            signal(number, SIG_IGN)
            ignored.withLock { $0.append(number) }
        }
    }

    /// The signals that this type has ignored; the others were ignored by whatever started the process.
    private static let ignored = Mutex<[Int32]>([])

    /// Undoes ``ignoreWriteSignals()``, for a program that replaces this one: it would inherit what is ignored.
    package static func restoreWriteSignals() {
        ignored.withLock { numbers in
            for number in numbers { signal(number, SIG_DFL) }
            numbers.removeAll()
        }
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
