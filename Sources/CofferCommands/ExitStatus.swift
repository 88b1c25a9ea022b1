package import CofferCore

/// The exit codes of `coffer`, after `sysexits.h`.
///
/// proto-docs/CLI.md has the table; a code never changes its meaning.
package enum ExitStatus: Int32, CaseIterable, Error {
    case done = 0
    /// The command line is wrong.
    case usage = 64
    /// Stored data is damaged or was tampered with.
    case damaged = 65
    /// There is no such item.
    case notFound = 66
    /// The daemon can't be reached, or there is no vault yet.
    case unavailable = 69
    /// A bug of ours.
    case bug = 70
    /// It exists already.
    case exists = 73
    /// Input or output failed; the disk may be full.
    case io = 74
    /// Locked: the same command works after `coffer unlock`.
    case locked = 75
    /// The peer broke the protocol, or speaks another version.
    case `protocol` = 76
    /// Not allowed: wrong passcode, missing entitlement, authentication wanted.
    case denied = 77

    /// The exit code for an error.
    ///
    /// - Parameter code: The error's code; one that this build does not know is a matter of versions.
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
