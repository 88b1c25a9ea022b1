/// What every boundary of Coffer throws: a stable code, what failed and why, and what to do now.
///
/// Two errors are equal when their codes are. No text in it holds a secret.
public struct CofferError: Error, Equatable, Sendable {
    /// When the same request may succeed.
    public enum Retry: Hashable, Sendable {
        /// Once the vault is unlocked.
        case afterUnlock
        /// After that many seconds.
        case afterDelay(seconds: Int)
        /// Not as it is.
        case never
    }

    /// The stable name of what went wrong.
    public let code: ErrorCode
    /// What failed, and why: lower case, no full stop, values in single quotes.
    public let message: String
    /// What to do now, where there is a way out.
    public let hint: String?
    /// When the same request may succeed.
    public let retry: Retry
    /// The code that Foundation has for it, where there is one.
    public let cocoaCode: Int?
    /// What has to be shown, where an access control is not met.
    public let need: AuthenticationNeed?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The stable name of what went wrong.
    ///   - message: What failed, and why.
    ///   - hint: What to do now.
    ///   - retry: When the same request may succeed.
    ///   - operation: What was being done: `interactionNotAllowed` has another Foundation code for reading than for
    ///     writing.
    ///   - need: What has to be shown.
    public init(
        _ code: ErrorCode,
        _ message: String,
        hint: String? = nil,
        retry: Retry = .never,
        operation: ItemOperation = .read,
        need: AuthenticationNeed? = nil
    ) {
        let row = ErrorCode.table.first { $0.code == code }
        self.init(
            code: code,
            message: message,
            hint: hint,
            retry: retry,
            cocoaCode: operation == .read ? row?.cocoaRead : row?.cocoaWrite,
            need: need
        )
    }

    /// Makes an error from the parts that travel on the wire.
    ///
    /// - Parameters:
    ///   - code: The stable name of what went wrong.
    ///   - message: What failed, and why.
    ///   - hint: What to do now.
    ///   - retry: When the same request may succeed.
    ///   - cocoaCode: The code that Foundation has for it.
    ///   - need: What has to be shown.
    public init(
        code: ErrorCode,
        message: String,
        hint: String?,
        retry: Retry,
        cocoaCode: Int?,
        need: AuthenticationNeed? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.retry = retry
        self.cocoaCode = cocoaCode
        self.need = need
    }

    /// Whether the codes are the same.
    public static func == (one: CofferError, other: CofferError) -> Bool { one.code == other.code }
}

extension CofferError {
    /// The answer to a request whose key is not there in the vault's present state.
    ///
    /// - Parameters:
    ///   - subject: What was asked for, in words, such as `'github.com/token'`.
    ///   - state: The state of the vault.
    ///   - operation: What was to be done with it.
    public static func locked(_ subject: String, in state: VaultState, for operation: ItemOperation) -> CofferError {
        // A vault that was locked for long is back there, too: it may have been unlocked since it came up.
        let reason = state == .beforeFirstUnlock ? "the vault is as before its first unlock" : "the vault is locked"
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
    /// The answer where stored data is not what was stored.
    ///
    /// - Parameters:
    ///   - subject: The item, in words.
    ///   - finding: What was found.
    public static func damaged(_ subject: String, found finding: String) -> CofferError {
        CofferError(
            .decode,
            "\(subject) is damaged or was tampered with: \(finding)",
            hint:
                "other items are not affected; restore this one from a backup, or free its name: 'coffer doctor --repair'"
        )
    }

    /// The answer where memory could not be locked.
    public static let noSecretMemory = CofferError(
        .internal,
        "memory for secrets can't be locked",
        hint: "raise the limit on locked memory: LimitMEMLOCK= in the unit, 'ulimit -l' in a shell"
    )
}
