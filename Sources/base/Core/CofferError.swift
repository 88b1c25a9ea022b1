/// The error type of every boundary of Coffer: a stable code, what failed and why, and what to do.
///
/// Two errors are equal if their codes are. Its texts contain no secret.
public struct CofferError: Error, Equatable, Sendable {
    /// When the same request may succeed.
    public enum Retry: Hashable, Sendable {
        /// After an unlock.
        case afterUnlock
        /// After that many seconds.
        case afterDelay(seconds: Int)
        /// Later, without an event that says when: what prevents it passes by itself.
        case later
        /// Not unless the request changes.
        case never
    }

    /// The stable name of the error.
    public let code: ErrorCode
    /// What failed, and why: lower case, no full stop, values in single quotes.
    public package(set) var message: String
    /// What to do, if there is a remedy.
    public package(set) var hint: String?
    /// When the same request may succeed.
    public let retry: Retry
    /// The code of Foundation, if there is one.
    public let cocoaCode: Int?
    /// The missing authentication, if an access control is not met.
    public let need: AuthenticationNeed?
    /// More than the code says, for programs that have more errors than codes.
    public let reason: ErrorReason?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The stable name of the error.
    ///   - message: What failed, and why.
    ///   - hint: What to do.
    ///   - retry: When the same request may succeed.
    ///   - operation: The operation that failed: `interactionNotAllowed` has another Foundation code for reading than
    ///     for writing.
    ///   - need: The missing authentication.
    ///   - reason: More than the code says, for programs.
    public init(
        _ code: ErrorCode,
        _ message: String,
        hint: String? = nil,
        retry: Retry = .never,
        operation: ItemOperation = .read,
        need: AuthenticationNeed? = nil,
        reason: ErrorReason? = nil
    ) {
        let row = ErrorCode.table.first { $0.code == code }
        self.init(
            code: code,
            message: message,
            hint: hint,
            retry: retry,
            cocoaCode: operation == .read ? row?.cocoaRead : row?.cocoaWrite,
            need: need,
            reason: reason
        )
    }

    /// Creates an error from the parts that are transmitted on the wire.
    public init(
        code: ErrorCode,
        message: String,
        hint: String?,
        retry: Retry,
        cocoaCode: Int?,
        need: AuthenticationNeed? = nil,
        reason: ErrorReason? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.retry = retry
        self.cocoaCode = cocoaCode
        self.need = need
        self.reason = reason
    }

    /// Whether the codes are the same.
    public static func == (one: CofferError, other: CofferError) -> Bool { one.code == other.code }
}

extension CofferError {
    /// The error for a request whose key is not in memory in the current state of the vault.
    ///
    /// - Parameters:
    ///   - subject: The item, in words, such as `'github.com/token'`.
    ///   - state: The state of the vault.
    ///   - operation: What the request was going to do with it.
    public static func locked(_ subject: String, in state: VaultState, for operation: ItemOperation) -> CofferError {
        // A vault that was locked for long is in this state again, so it may have been unlocked since the daemon
        // started.
        let reason = state == .beforeFirstUnlock ? "the vault is sealed until you unlock it" : "the vault is locked"
        return CofferError(
            .interactionNotAllowed,
            "can't \(operation == .read ? "read" : "write") \(subject): \(reason)",
            hint: "run 'coffer unlock' and repeat the command",
            retry: .afterUnlock,
            operation: operation
        )
    }
}

extension CofferError {
    /// The error for stored data that is not authentic.
    ///
    /// - Parameters:
    ///   - subject: The item, in words.
    ///   - finding: What is wrong.
    public static func damaged(_ subject: String, found finding: String) -> CofferError {
        CofferError(
            .decode,
            "\(subject) is damaged or was tampered with: \(finding)",
            hint:
                "other items are not affected; 'coffer doctor --repair' moves this one into quarantine, and frees its name"
        )
    }

    /// The error for a file whose content is not authentic.
    ///
    /// - Parameters:
    ///   - file: The name of the file, in quotes.
    ///   - finding: What is wrong.
    public static func damaged(content file: String, found finding: String) -> CofferError {
        var error = damaged(file, found: finding)
        error.hint =
            "other files are not affected; save what can be read by coffer doctor --salvage \(file) --output FILE, "
            + "then store it again, or remove it"
        return error
    }

    /// The error if memory can't be locked.
    public static let noSecretMemory = CofferError(
        .io,
        "memory for secrets can't be locked",
        hint: "raise the limit on locked memory: LimitMEMLOCK= in the unit, 'ulimit -l' in a shell"
    )
}
