/// What a user presents to open the vault.
public enum Credential: String, CaseIterable, Sendable {
    /// The passcode, used together with the device key.
    case passcode
    /// A recovery key, which opens the vault without the device key.
    case recoveryKey
}

/// What a keyslot is opened with.
public enum KeyslotKind: String, CaseIterable, Sendable {
    /// The device key alone: the vault has no passcode.
    case device
    /// The passcode, and the device key.
    case passcode
    /// A recovery key.
    case recoveryKey
}

/// A keyslot, one of the ways to the keys of a vault, as a client sees it.
public struct KeyslotInfo: Hashable, Sendable {
    /// Its number, which may be reused after it is removed.
    public let number: Int
    /// What opens it.
    public let kind: KeyslotKind

    /// Creates a description of a keyslot.
    public init(number: Int, kind: KeyslotKind) {
        self.number = number
        self.kind = kind
    }
}
