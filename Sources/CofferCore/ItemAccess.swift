/// What a client may do with an item in a state of the vault, and why not.
public struct ItemAccess: Hashable, Sendable {
    /// The state of the vault.
    public let state: VaultState
    /// Whether its content can be read; `nil` where nothing is stored.
    public let read: Answer?
    /// Whether it can be replaced, or stored where nothing is.
    public let write: Answer
    /// Whether it can be removed; `nil` where nothing is stored.
    public let remove: Answer?
    /// When it can be read, for people: a sentence without its subject.
    public let readable: String

    /// Whether something can be done.
    public enum Answer: Hashable, Sendable {
        /// It can.
        case yes
        /// It can't, with that error.
        case no(ErrorCode)

        /// As it stands on the wire: `yes`, or the code.
        public var text: String {
            switch self {
            case .yes: "yes"
            case .no(let code): code.rawValue
            }
        }

        /// Reads what stands on the wire.
        ///
        /// - Parameter text: `yes`, or a code.
        public init(text: String) { self = text == "yes" ? .yes : .no(ErrorCode(rawValue: text)) }

        /// Makes an answer.
        ///
        /// - Parameter refusal: Why not, if so.
        public init(_ refusal: ErrorCode?) { self = refusal.map { .no($0) } ?? .yes }
    }

    /// Describes what may be done.
    public init(state: VaultState, read: Answer?, write: Answer, remove: Answer?, readable: String) {
        self.state = state
        self.read = read
        self.write = write
        self.remove = remove
        self.readable = readable
    }
}

extension Protection {
    /// When something that is protected so can be read, for people: a sentence without its subject.
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
        case .file(.completeWhenUserInactive): "while the vault is unlocked, and for some minutes after a lock"
        case .keychain(.always), .keychain(.alwaysThisDeviceOnly), .file(.none): "always"
        }
    }
}
