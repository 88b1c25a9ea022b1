internal import CofferClient
internal import CofferSecretFormats
internal import CofferCrypto
internal import CofferMemory
internal import CofferSystem

/// Answers the messages of one connection.
final class AgentSession {
    private let agent: Agent
    /// The sessions of SSH through which the connection came, the first one first.
    private var bindings: [AgentBinding] = []
    /// The certificates of keys that were removed over this connection: `ssh-add -d` names both.
    private var removedCertificates: Set<[UInt8]> = []

    init(_ agent: Agent) { self.agent = agent }

    /// What a message leads to.
    enum Answer {
        case message([UInt8])
        /// A person is to be asked before the message is answered.
        case question(AgentQuestion)
        /// The message is to be answered at that time.
        case delay(until: ContinuousClock.Instant)
    }

    /// What has happened to a message.
    enum Stage {
        case received
        /// A person has agreed to it.
        case confirmed
        /// Its delay is over.
        case due
    }

    private enum Failure: Error {
        case unknownExtension
        case isToBeConfirmed(AgentQuestion)
        case isToWait(until: ContinuousClock.Instant)
    }

    private static let failure = SSHWriter(.failure).bytes

    /// Answers a message.
    ///
    /// A refusal has no reason in the protocol: it goes to standard error.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - stage: What has happened to it.
    func answer(to message: RawSpan, _ stage: Stage) -> Answer {
        var fields = KeyCursor(0..<message.byteCount)
        var number: UInt8 = 0
        do {
            number = UInt8(try fields.number(1, in: message))
            guard let request = AgentMessage.Request(rawValue: number) else {
                throw CofferError(.unimplemented, "message \(number) is not known")
            }
            return .message(try answer(to: request, &fields, in: message, stage))
        } catch Failure.isToBeConfirmed(let question) {
            return .question(question)
        } catch Failure.isToWait(let end) {
            return .delay(until: end)
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
        _ stage: Stage
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
            if request == .unlock, stage == .received, let end = agent.delayOfUnlock() {
                throw Failure.isToWait(until: end)
            }
            try request == .lock ? agent.lock(passphrase) : agent.unlock(passphrase)
            return SSHWriter(.success).bytes
        case .extension: return try answer(toExtension: fields.text(in: message), &fields, in: message)
        default: break
        }
        guard !agent.isLocked else { throw CofferError.agentIsLocked }
        switch request {
        case .signRequest: return try sign(&fields, in: message, isConfirmed: stage == .confirmed)
        case .addIdentity, .addIDConstrained: try add(&fields, in: message, request == .addIDConstrained)
        case .removeIdentity:
            let blob = message.copy(try fields.string(in: message))
            try fields.finish()
            if removedCertificates.remove(blob) == nil { try remove(blob) }
        default:
            try fields.finish()
            let left = try agent.keys().removeAdded(over: bindings)
            if left > 0 {
                agent.report("\(left) of the vault's keys \(left == 1 ? "stays" : "stay"): ssh-add has not added them")
            }
        }
        return SSHWriter(.success).bytes
    }

    /// Removes a key with its certificate, or a certificate alone.
    private func remove(_ blob: [UInt8]) throws {
        let keys = try agent.keys()
        let key = try keys.key(of: blob)
        guard key.isVisible(over: bindings) else { throw CofferError.noSuchKey }
        if blob == key.certificate { return try keys.removeCertificate(of: key) }
        try keys.remove(key)
        if let certificate = key.certificate { removedCertificates = [certificate] }
    }

    private func identities() throws -> [UInt8] {
        let keys = agent.isLocked ? [] : try agent.keys().list().filter { $0.isVisible(over: bindings) }
        var writer = SSHWriter(.identitiesAnswer)
        let identities = keys.flatMap { key in key.blobs.map { ($0, key.comment) } }
        writer.number(identities.count)
        for (blob, comment) in identities {
            writer.string(blob)
            writer.string(comment)
        }
        guard writer.bytes.count <= Limits.agentMessageBytes else {
            throw CofferError(.dataTooLarge, "\(keys.count) keys are more than a message holds")
        }
        return writer.bytes
    }

    private func sign(
        _ fields: inout KeyCursor,
        in message: RawSpan,
        isConfirmed: Bool
    ) throws -> [UInt8] {
        let blob = message.copy(try fields.string(in: message))
        let content = try fields.string(in: message)
        let flags = try fields.number(4, in: message)
        try fields.finish()
        let key = try agent.keys().key(of: blob)
        do {
            try check(key, named: blob, signing: content, in: message)
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
    ///
    /// - Parameter blob: The key or the certificate that the request names.
    private func check(
        _ key: AgentKey,
        named blob: [UInt8],
        signing content: Range<Int>,
        in message: RawSpan
    ) throws(CofferError) {
        guard let destinations = key.destinations else { return }
        guard let login = SSHLogin(message, content, by: blob), login.isAllowed(by: destinations, bindings)
        else {
            throw CofferError(
                .missingEntitlement,
                "it is restricted to logins to some hosts, and this is none of them",
                hint: "'ssh-add -h' names the hosts"
            )
        }
    }

    private func add(_ fields: inout KeyCursor, in message: RawSpan, _ isConstrained: Bool) throws {
        var rest = fields
        guard SSHCertificate.isType(try rest.text(in: message)) else {
            return try add(nil, &fields, in: message, isConstrained)
        }
        let certificate = try SSHCertificate(message.copy(try rest.string(in: message)))
        let request = try certificate.request(with: &rest, in: message)
        try request.withBytes { request in
            var fields = KeyCursor(0..<request.byteCount)
            try add(certificate.blob, &fields, in: request, isConstrained)
        }
    }

    private func add(
        _ certificate: [UInt8]?,
        _ fields: inout KeyCursor,
        in message: RawSpan,
        _ isConstrained: Bool
    ) throws {
        let key = try OpenSSHKey.key(&fields, in: message)
        let constraints = isConstrained ? try AgentConstraints(&fields, in: message) : AgentConstraints()
        try fields.finish()
        try agent.keys().add(key, certificate, constraints, over: bindings)
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

    fileprivate static let agentIsLocked = CofferError(
        .notAvailable,
        "the agent is locked",
        hint: "'ssh-add -X' unlocks it"
    )
}
