internal import CofferSecretFormats

/// The numbers of the agent protocol (draft-ietf-sshm-ssh-agent).
enum AgentMessage {
    /// What a client requests.
    enum Request: UInt8 {
        /// Of version 1 of SSH, which has no keys here; `ssh-add -D` sends it as well.
        case removeAllRSAIdentities = 9
        case requestIdentities = 11
        case signRequest = 13
        case addIdentity = 17
        case removeIdentity = 18
        case removeAllIdentities = 19
        case lock = 22
        case unlock = 23
        case addIDConstrained = 25
        case `extension` = 27
    }

    /// What the agent answers.
    enum Answer: UInt8 {
        case failure = 5
        case success = 6
        case identitiesAnswer = 12
        case signResponse = 14
        case extensionFailure = 28
        case extensionResponse = 29
    }

    /// The constraints of a key that is added.
    enum Constraint: UInt8 {
        case lifetime = 1
        case confirm = 2
        case `extension` = 255
    }

    /// The flags of a request to sign.
    enum SignFlags {
        static let rsaSHA256 = 2
        static let rsaSHA512 = 4
    }
}

extension SSHWriter {
    init(_ answer: AgentMessage.Answer) { self.init([answer.rawValue]) }
}
