// The bounds of the programs for the desktop.

extension Limits {
    /// The bytes of a secret that the Secret Service takes and gives.
    package static let serviceSecretBytes = 1 << 20
    /// The bytes of the secrets in one answer of the Secret Service: the bus ends a connection over larger messages.
    package static let serviceAnswerBytes = 16 << 20
    /// The bytes of a text that is read from a bus, and how many texts with names, and paths, are read of one message.
    package static let busTextBytes = 64 << 10
    package static let busTexts = 1024
    package static let busPaths = 128 << 10
    /// Nanoseconds until a call has a vault that can't be reached tried again.
    package static let vaultRetryNanoseconds: UInt64 = 1_000_000_000
    /// The items of the collection that is in memory.
    package static let sessionItems = 1024
    /// The bytes of the secrets of that collection.
    package static let sessionItemBytes = 4 << 20
    /// The sessions of a client of the Secret Service; a further one ends the oldest.
    package static let transferSessions = 64
    /// The calls of a client of the bus that wait until its process is known.
    package static let callsOfUnknown = 256
    /// The connections to the daemon for clients of the bus.
    package static let servedConnections = 32
    /// The prompts that a client of the Secret Service has not asked for yet; a further one ends the oldest.
    ///
    /// It is also the bound of the questions of a program that wait for an answer; a further one is refused.
    package static let servicePrompts = 16
    /// The items whose secrets are asked of another service at once: each may be as large as one that the bus takes.
    package static let serviceItemsAtOnce = 16
    /// The bytes of the secret that the portal gives a sandboxed application.
    package static let portalSecretBytes = 64
}
