public import CofferCore
internal import CofferSystem

extension ErrorCode {
    /// The connection broke before the answer: the change may have been made or not.
    ///
    /// This library creates it; it is never sent. Read the stored state before you repeat the change.
    public static let outcomeUnknown = ErrorCode(rawValue: "outcomeUnknown")
}

extension CofferError {
    /// The error if no daemon listens.
    static func unreachable(_ socketPath: String, _ reason: SystemError) -> CofferError {
        CofferError(
            .notAvailable,
            "can't reach the daemon at \(quotedForDisplay(socketPath)): \(reason.reason)",
            hint: socketPath == SocketPath.system
                ? "it is the machine's: as root, 'systemctl start cofferd.socket' starts it"
                : "start it: 'systemctl --user start cofferd.socket', or 'cofferd' by hand",
            // The daemon's backlog of connections is full.
            retry: reason.wouldBlock ? .afterDelay(seconds: 1) : .never
        )
    }

    /// The error of a call whose connection broke.
    static func connectionBroken(_ reason: String) -> CofferError {
        CofferError(
            .notAvailable,
            "the connection to the daemon is broken: \(reason)",
            hint: "repeat the command",
            retry: .later
        )
    }

    /// The error of a call of which nothing was heard.
    static func silent(for time: Duration) -> CofferError {
        let seconds = durationForDisplay(seconds: Int(time.components.seconds))
        return CofferError(
            .notAvailable,
            "the daemon does not answer: nothing has come from it for \(seconds)",
            hint:
                "it may be stopped, or the machine is overloaded: see whether 'cofferd' runs, or wait longer with --timeout",
            retry: .later
        )
    }

    /// The error of a change whose connection broke before the answer.
    static func outcomeUnknown(_ method: String, _ reason: CofferError) -> CofferError {
        CofferError(
            .outcomeUnknown,
            "it is not known whether '\(method)' was carried out: \(reason.message)",
            hint: "check what is stored before you try again"
        )
    }

    /// The error of a call after its client was closed.
    static let clientClosed = CofferError(
        .notAvailable,
        "the connection to the daemon is closed",
        hint: "use the client inside of 'withConnection' only"
    )

    /// The error of a handle whose connection broke.
    static let boundToConnection = CofferError(
        .notAvailable,
        "the open file has ended with the connection to the daemon that it was opened on",
        hint: "open it again"
    )

    /// The error of a transfer whose size differs from that in the answer.
    static func wrongCount(announced: Int64, _ received: Int64) -> CofferError {
        CofferError(.protocolViolation, "the daemon announces \(announced) bytes, and sent \(received)")
    }

    /// The error of a call whose task was cancelled.
    static let cancelled = CofferError(.userCanceled, "the call was cancelled")
}
