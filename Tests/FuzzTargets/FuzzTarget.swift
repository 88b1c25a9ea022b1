/// A reader of hostile bytes, with what has to hold whatever it is given.
///
/// The fuzzer and the test of the corpus run the same.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// What `ssh` and `ssh-add` send to the agent, behind the number of the message.
    case agentMessages = "agent-messages"
    /// X.509 certificates that are added to the keychain.
    case certificates
    /// The configuration file.
    case configuration
    /// The parsers of content that decide where it is stored.
    case contents
    /// Files of variables, for `run`.
    case environment
    /// The fields of a secret.
    case fields
    /// A stream of frames.
    case frames
    /// The header of a stored content, and the attributes of a node.
    case header
    /// The exported files of other programs.
    case imports
    /// The keybag.
    case keybag
    /// Keys and certificates as files: PEM, DER, OpenSSH.
    case keys
    /// The JSON of requests, answers and news.
    case messages
    /// Addresses of one-time codes.
    case oneTimeKeys = "one-time-keys"
    /// Parcels, what they say of their items, and recipients.
    case parcels
    /// Patterns of names.
    case patterns
    /// Recovery keys as they are typed.
    case recoveryKeys = "recovery-keys"
    /// The objects of a repository of backups.
    case repositories
    /// The rows of the catalog.
    case rows
    /// Templates, for `inject`.
    case templates

    /// Gives the reader some bytes.
    ///
    /// - Parameter input: The bytes.
    /// - Throws: ``FuzzFinding`` where something does not hold that has to.
    package func check(_ input: [UInt8]) throws(FuzzFinding) {
        switch self {
        case .agentMessages: try checkAgentMessage(input)
        case .certificates: try checkCertificate(input)
        case .configuration: try checkConfiguration(input)
        case .contents: try checkContent(input)
        case .environment: try checkEnvironment(input)
        case .fields: try checkFields(input)
        case .frames: try checkFrames(input)
        case .header: try checkHeader(input)
        case .imports: try checkImport(input)
        case .keybag: try checkKeybag(input)
        case .keys: try checkKeyFile(input)
        case .messages: try checkMessage(input)
        case .oneTimeKeys: try checkOneTimeKey(input)
        case .parcels: try checkParcel(input)
        case .patterns: try checkPattern(input)
        case .recoveryKeys: try checkRecoveryKey(input)
        case .repositories: try checkRepository(input)
        case .rows: try checkRow(input)
        case .templates: try checkTemplate(input)
        }
    }
}

/// What does not hold.
package struct FuzzFinding: Error, CustomStringConvertible {
    package let description: String
}

/// Finds fault where something does not hold.
func require(_ condition: Bool, _ fault: @autoclosure () -> String) throws(FuzzFinding) {
    if !condition { throw FuzzFinding(description: fault()) }
}

/// A value, or `nil` where it is refused: refusing is what most input is for.
func ifAccepted<Value: ~Copyable, Failure: Error>(_ body: () throws(Failure) -> Value) -> Value? {
    do { return try body() } catch { return nil }
}
