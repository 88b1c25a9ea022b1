internal import CofferClient
internal import CofferContents
internal import CofferCrypto
internal import CofferMemory
internal import CofferSystem

/// Answers the messages of one connection.
final class AgentSession {
    private let agent: Agent
    /// The sessions of SSH through which the connection came, the first one first.
    private var bindings: [AgentBinding] = []

    init(_ agent: Agent) { self.agent = agent }

    /// What a message leads to.
    enum Answer {
        case message([UInt8])
        /// A person is to be asked before the message is answered.
        case question(AgentQuestion)
    }

    private enum Failure: Error {
        case unknownExtension
        case isToBeConfirmed(AgentQuestion)
    }

    private static let failure = SSHWriter(.failure).bytes

    /// Answers a message.
    ///
    /// A refusal has no reason in the protocol: it goes to standard error.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - isConfirmed: Whether a person has agreed to it.
    func answer(to message: RawSpan, isConfirmed: Bool) -> Answer {
        var fields = KeyCursor(0..<message.byteCount)
        var number: UInt8 = 0
        do {
            number = UInt8(try fields.number(1, in: message))
            guard let request = AgentMessage.Request(rawValue: number) else {
                throw CofferError(.unimplemented, "message \(number) is not known")
            }
            return .message(try answer(to: request, &fields, in: message, isConfirmed))
        } catch Failure.isToBeConfirmed(let question) {
            return .question(question)
        } catch Failure.unknownExtension {
            return .message(Self.failure)
        } catch let error as CofferError where error.message == CofferError.malformedKey.message {
            agent.report(CofferError(.param, "message \(number) is malformed"))
            return .message(Self.failure)
        } catch {
            agent.report(error as? CofferError ?? .noSecretMemory)
            return .message(Self.failure)
        }
    }

    /// The answer to a message that a person has not agreed to.
    func refusal(_ question: AgentQuestion, _ error: CofferError) -> [UInt8] {
        agent.report(.unused(question.key, error))
        return Self.failure
    }

    private func answer(
        to request: AgentMessage.Request,
        _ fields: inout KeyCursor,
        in message: RawSpan,
        _ isConfirmed: Bool
    ) throws -> [UInt8] {
        switch request {
        case .removeAllRSAIdentities:
            try fields.finish()
            return SSHWriter(.success).bytes
        case .requestIdentities:
            try fields.finish()
            return try identities()
        case .lock, .unlock:
            let passphrase = message.extracting(try fields.string(in: message))
            try fields.finish()
            try request == .lock ? agent.lock(passphrase) : agent.unlock(passphrase)
            return SSHWriter(.success).bytes
        case .extension: return try answer(toExtension: fields.text(in: message), &fields, in: message)
        default: break
        }
        guard !agent.isLocked else { throw CofferError.agentIsLocked }
        switch request {
        case .signRequest: return try sign(&fields, in: message, isConfirmed)
        case .addIdentity, .addIDConstrained: try add(&fields, in: message, request == .addIDConstrained)
        case .removeIdentity:
            let blob = message.copy(try fields.string(in: message))
            try fields.finish()
            let keys = try agent.keys()
            let key = try keys.key(of: blob)
            guard key.isVisible(over: bindings) else { throw CofferError.noSuchKey }
            try keys.remove(key)
        default:
            try fields.finish()
            let left = try agent.keys().removeAdded(over: bindings)
            if left > 0 {
                agent.report("\(left) of the vault's keys \(left == 1 ? "stays" : "stay"): ssh-add has not added them")
            }
        }
        return SSHWriter(.success).bytes
    }

    private func identities() throws -> [UInt8] {
        let keys = agent.isLocked ? [] : try agent.keys().list().filter { $0.isVisible(over: bindings) }
        var writer = SSHWriter(.identitiesAnswer)
        writer.number(keys.count)
        for key in keys {
            writer.string(key.publicKey.blob)
            writer.string(key.comment)
        }
        guard writer.bytes.count <= AgentMessage.limit else {
            throw CofferError(.dataTooLarge, "\(keys.count) keys are more than a message holds")
        }
        return writer.bytes
    }

    private func sign(
        _ fields: inout KeyCursor,
        in message: RawSpan,
        _ isConfirmed: Bool
    ) throws -> [UInt8] {
        let blob = message.copy(try fields.string(in: message))
        let content = try fields.string(in: message)
        let flags = try fields.number(4, in: message)
        try fields.finish()
        let key = try agent.keys().key(of: blob)
        do {
            try check(key, signing: content, in: message)
            if key.isConfirmed && !isConfirmed { throw Failure.isToBeConfirmed(AgentQuestion(key)) }
            let signed = try Secret(copying: message.extracting(content))
            let signature = try agent.keys().signature(of: signed, by: key, flags: flags)
            var writer = SSHWriter(.signResponse)
            writer.string(signature)
            return writer.bytes
        } catch let error as CofferError {
            throw CofferError.unused(key.quoted, error)
        }
    }

    /// Checks that a key which is restricted to destinations logs in to one of them.
    private func check(_ key: AgentKey, signing content: Range<Int>, in message: RawSpan) throws(CofferError) {
        guard let destinations = key.destinations else { return }
        guard let login = SSHLogin(message, content, by: key.publicKey), login.isAllowed(by: destinations, bindings)
        else {
            throw CofferError(
                .missingEntitlement,
                "it is restricted to logins to some hosts, and this is none of them",
                hint: "'ssh-add -h' names the hosts"
            )
        }
    }

    private func add(_ fields: inout KeyCursor, in message: RawSpan, _ isConstrained: Bool) throws {
        var type = fields
        guard try !type.text(in: message).hasSuffix("-cert-v01@openssh.com") else { throw CofferError.certificate }
        let key = try OpenSSHKey.key(&fields, in: message)
        let constraints = isConstrained ? try AgentConstraints(&fields, in: message) : AgentConstraints()
        try fields.finish()
        try agent.keys().add(key, constraints, over: bindings)
        agent.expiryMayHaveChanged()
    }

    // MARK: Extensions

    private func answer(
        toExtension name: String,
        _ fields: inout KeyCursor,
        in message: RawSpan
    ) throws -> [UInt8] {
        switch name {
        case "query":
            try fields.finish()
            var writer = SSHWriter(.extensionResponse)
            writer.string(name)
            for name in ["query", AgentBinding.name] { writer.string(name) }
            return writer.bytes
        case AgentBinding.name:
            let binding = try AgentBinding(&fields, in: message)
            try binding.check(against: bindings)
            bindings.append(binding)
            return SSHWriter(.success).bytes
        default: throw Failure.unknownExtension
        }
    }
}

extension CofferError {
    /// Why a key did not sign.
    fileprivate static func unused(_ key: String, _ error: CofferError) -> CofferError {
        CofferError(error.code, "\(key) did not sign: \(error.message)", hint: error.hint)
    }

    fileprivate static let certificate = CofferError(
        .unimplemented,
        "certificates are not kept: the key signs for them as well",
        hint: "'CertificateFile' in ssh_config(5) names one"
    )

    fileprivate static let agentIsLocked = CofferError(
        .notAvailable,
        "the agent is locked",
        hint: "'ssh-add -X' unlocks it"
    )
}
