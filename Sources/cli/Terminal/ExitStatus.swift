package import CofferCore

/// The exit codes of `coffer`, after `sysexits.h`.
///
/// proto-docs/CLI.md has the table; the meaning of a code never changes.
package enum ExitStatus: Int32, CaseIterable, Error {
    case done = 0
    /// The command line is wrong.
    case usage = 64
    /// Stored data is damaged or was tampered with.
    case damaged = 65
    /// The item does not exist.
    case notFound = 66
    /// The daemon can't be reached, or there is no vault yet.
    case unavailable = 69
    /// An internal error.
    case bug = 70
    /// The item exists already.
    case exists = 73
    /// Input or output failed; the disk may be full.
    case io = 74
    /// Locked: the same command works after `coffer unlock`.
    case locked = 75
    /// The peer broke the protocol, or speaks another version.
    case `protocol` = 76
    /// Denied: wrong passcode, missing entitlement, or authentication required.
    case denied = 77
    /// The program that `run` was to start can't be started.
    case cannotRun = 126
    /// There is no such program.
    case noProgram = 127

    /// The exit code for an error.
    ///
    /// - Parameter code: The code of the error; an unknown one comes from another version, and is a protocol
    ///   error.
    package init(_ code: ErrorCode) {
        switch code {
        case .itemNotFound: self = .notFound
        case .duplicateItem: self = .exists
        case .interactionNotAllowed: self = .locked
        case .interactionRequired, .authFailed, .missingEntitlement: self = .denied
        case .param, .dataTooLarge: self = .usage
        case .decode: self = .damaged
        case .notAvailable: self = .unavailable
        case .diskFull, .io: self = .io
        case .internal: self = .bug
        default: self = .protocol
        }
    }
}
