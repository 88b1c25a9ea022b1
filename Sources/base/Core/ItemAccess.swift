extension ItemAccess {
    /// Whether an operation is possible.
    public enum Answer: Hashable, Sendable {
        /// The operation is possible.
        case yes
        /// The operation fails with that error.
        case no(ErrorCode)

        /// The text on the wire: `yes`, or the code.
        public var text: String {
            switch self {
            case .yes: "yes"
            case .no(let code): code.rawValue
            }
        }

        /// Parses the text on the wire.
        public init(text: String) { self = text == "yes" ? .yes : .no(ErrorCode(rawValue: text)) }

        /// Creates an answer.
        ///
        /// - Parameter refusal: The error, if the operation fails.
        public init(_ refusal: ErrorCode?) { self = refusal.map { .no($0) } ?? .yes }
    }
}

extension Protection {
    /// When an item with this protection can be read, in words for people.
    public var readable: String {
        switch self {
        case .keychain(.whenUnlocked), .keychain(.whenUnlockedThisDeviceOnly), .file(.complete):
            "while the vault is unlocked, and until the grace of a lock is over"
        case .keychain(.whenPasscodeSetThisDeviceOnly):
            "while the vault is unlocked, and until the grace of a lock is over; it is destroyed with the passcode"
        case .keychain(.afterFirstUnlock), .keychain(.afterFirstUnlockThisDeviceOnly),
            .file(.completeUntilFirstUserAuthentication):
            "from the first unlock on, also while the vault is locked, until the daemon ends or has been locked for long"
        case .file(.completeUnlessOpen):
            "while the vault is unlocked, and until the grace of a lock is over; new ones can be written while it is locked"
        case .keychain(.whenUnlockedDeposit):
            "while the vault is unlocked, and until the grace of a lock is over; it can be stored and replaced in every state"
        case .file(.completeWhenUserInactive): "while the vault is unlocked, and for some minutes after a lock"
        case .keychain(.always), .keychain(.alwaysThisDeviceOnly), .file(.none): "always"
        }
    }
}
