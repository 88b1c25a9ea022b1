internal import CofferSecretFormats
internal import CofferCore

/// What a person is asked before a key is used.
struct AgentQuestion {
    let text: Line
    /// The key in messages.
    let key: String

    init(_ key: AgentKey) {
        text = "Allow use of key \(quotedForDisplay(key.comment))?\n\(key.publicKey.fingerprint)"
        self.key = key.quoted
    }
}
