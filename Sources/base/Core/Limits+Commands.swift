extension Limits {
    // MARK: Prompts and output

    /// The bytes of the answer to a question: more than any word that is expected.
    package static let answerBytes = 64
    /// The prompts for a new secret that is weak, or was mistyped.
    package static let newSecretAttempts = 3
    /// The bytes of a QR code in characters of a terminal: more than those of the largest code.
    package static let qrCodeBytes = 64 << 10
    /// Nanoseconds before a progress bar appears: a shorter transfer needs none.
    package static let progressBarNanoseconds: UInt64 = 500_000_000
    /// Seconds until a copied secret is cleared from the clipboard, by default.
    package static let defaultClipboardSeconds: Int64 = 45

    /// The days within which an item expires soon.
    package static let expiresSoonDays: Int64 = 30
    /// The names of such items on a line.
    package static let expiringNames = 5
    /// The bytes of a secret, or of one of its lines, below which it is not masked: less occurs by chance.
    package static let leastMaskedBytes = 4

    // MARK: Passcodes, passwords and keys

    /// The characters of a passcode, below which it is weak.
    package static let leastPasscodeCharacters = 4
    /// The wrong passcodes without a delay, after which the password of the login is not tried.
    package static let freePasscodeAttempts = 3
    /// The bytes of a typed recovery key: more than the groups, spaces and line ends of any.
    package static let recoveryKeyBytes = 256
    /// The passcodes that a person may try when another program asks: more would have to wait.
    package static let helperPasscodeAttempts = 3
    /// The bytes of a sealed device key: with a TPM it has about a kilobyte.
    package static let sealedKeyBytes = 16 << 10
    /// Seconds for which a factor is valid: for the requests of one verb, whose connection ends with it.
    package static let factorSeconds: Int64 = 60
    /// The characters, or words, of a generated password.
    package static let passwordLength = 1024
    /// The characters of a generated password by default: over 140 bits.
    package static let defaultPasswordLength = 24
    /// The bytes of the address of a one-time code.
    package static let otpAddressBytes = 4096
    /// The rounds of the key derivation of a key of OpenSSH: more would take over a minute.
    package static let bcryptRounds = 10_000
    /// The bytes of an item's attributes besides their texts.
    package static let attributeReserveBytes = 512

    // MARK: Import and export

    /// The bytes of a file from which its format is guessed.
    package static let guessedBytes = 4096
    /// Nested elements of an XML text: exports have about five, and groups in each other.
    package static let markupDepth = 64
    /// The bytes of the name of an imported field.
    package static let fieldNameBytes = 60
    /// The bytes that gpg adds to a text, generously.
    package static let openPGPOverheadBytes = 64 << 10

    // MARK: Other programs

    /// The bytes of a message for the agent, without its length: as many as OpenSSH's agent accepts.
    package static let agentMessageBytes = 256 << 10
    /// The bindings of a connection of the agent: as many as OpenSSH's agent records.
    package static let agentBindings = 16
    /// The bytes of a line to or from a pinentry, without its end: as Assuan has it.
    package static let assuanLineBytes = 1000
    /// The bytes of a variable of the environment that is passed on to a pinentry.
    package static let pinentryOptionBytes = 256
    /// Seconds for which a question is shown, by default.
    package static let promptSeconds = 120
    /// Nanoseconds for which a pinentry may take longer to end than it was asked to: then it is killed.
    package static let pinentryPatienceNanoseconds: UInt64 = 2_000_000_000
    /// The bytes of the output of an askpass program.
    package static let askpassBytes = 4096
    /// The bytes of a request of docker: as many as docker's own helpers read.
    package static let dockerRequestBytes = 64 << 10
    /// The pause between two looks at the mounts that have not confirmed a lock, in microseconds.
    package static let confirmationPauseMicroseconds: UInt32 = 5000
    /// The bytes of an answer of a service manager.
    package static let serviceManagerBytes = 256 << 10
    /// The attempts to connect to a daemon that was started: five seconds.
    package static let startAttempts = 250
    /// The attempts to lock a directory at which another process mounts: two seconds.
    package static let mountLockAttempts = 100
    /// The pause before another attempt, in microseconds.
    package static let startPauseMicroseconds: UInt32 = 20_000
}
