/// What a person shows to be let in.
public enum Credential: String, CaseIterable, Sendable {
    /// The passcode, which the device key goes with.
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

/// What a client is told about a keyslot, one of the ways to the keys of a vault.
public struct KeyslotInfo: Hashable, Sendable {
    /// Its number, which the next one may get once it is removed.
    public let number: Int
    /// What opens it.
    public let kind: KeyslotKind

    /// Describes a keyslot.
    public init(number: Int, kind: KeyslotKind) {
        self.number = number
        self.kind = kind
    }
}
