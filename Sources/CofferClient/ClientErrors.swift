public import CofferCore
internal import CofferSystem

extension ErrorCode {
    /// The connection broke before the answer came: it is not known whether the change happened.
    ///
    /// This library makes it; it never travels. Look at what is stored before you try again.
    public static let outcomeUnknown = ErrorCode(rawValue: "outcomeUnknown")
}

extension CofferError {
    /// The answer where nobody listens.
    static func unreachable(_ socketPath: String, _ reason: SystemError) -> CofferError {
        CofferError(
            .notAvailable,
            "can't reach the daemon at \(quotedForDisplay(socketPath)): \(reason.reason)",
            hint: "start it: 'systemctl --user start cofferd.socket', or 'cofferd' by hand",
            // Too many wait there to be let in.
            retry: reason.wouldBlock ? .afterDelay(seconds: 1) : .never
        )
    }

    /// What ends a call whose connection broke.
    static func connectionBroken(_ reason: String) -> CofferError {
        CofferError(.notAvailable, "the connection to the daemon is broken: \(reason)", hint: "repeat the command")
    }

    /// What ends a change whose connection broke before the answer came.
    static func outcomeUnknown(_ method: String, _ reason: CofferError) -> CofferError {
        CofferError(
            .outcomeUnknown,
            "it is not known whether '\(method)' was carried out: \(reason.message)",
            hint: "look at what is stored before you try again"
        )
    }

    /// What ends a call outside of its client's time.
    static let clientClosed = CofferError(
        .notAvailable,
        "the connection to the daemon is closed",
        hint: "use the client inside of 'withConnection' only"
    )

    /// What ends the use of something that was bound to a connection.
    static let boundToConnection = CofferError(
        .notAvailable,
        "the open file has ended with the connection to the daemon that it was opened on",
        hint: "open it again"
    )

    /// What ends a call whose content is not as long as the answer says.
    static func wrongCount(announced: Int64, _ received: Int64) -> CofferError {
        CofferError(.protocolViolation, "the daemon announces \(announced) bytes, and sent \(received)")
    }

    /// What ends a call whose task was cancelled.
    static let cancelled = CofferError(.userCanceled, "the call was cancelled")
}
