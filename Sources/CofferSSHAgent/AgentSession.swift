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

    private enum Failure: Error { case unknownExtension }

    /// Answers a message.
    ///
    /// A refusal has no reason in the protocol: it goes to standard error.
    func answer(to message: RawSpan) -> [UInt8] {
        var fields = KeyCursor(0..<message.byteCount)
        var number: UInt8 = 0
        do {
            number = UInt8(try fields.number(1, in: message))
            guard let request = AgentMessage.Request(rawValue: number) else {
                throw CofferError(.unimplemented, "message \(number) is not known")
            }
            return try answer(to: request, &fields, in: message)
        } catch Failure.unknownExtension {
            return SSHWriter(.failure).bytes
        } catch let error as CofferError where error.message == CofferError.malformedKey.message {
            agent.report(CofferError(.param, "message \(number) is malformed"))
            return SSHWriter(.failure).bytes
        } catch {
            agent.report(error as? CofferError ?? .noSecretMemory)
            return SSHWriter(.failure).bytes
        }
    }

    private func answer(
        to request: AgentMessage.Request,
        _ fields: inout KeyCursor,
        in message: RawSpan
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
        case .signRequest: return try sign(&fields, in: message)
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

    private func sign(_ fields: inout KeyCursor, in message: RawSpan) throws -> [UInt8] {
        let blob = message.copy(try fields.string(in: message))
        let content = try fields.string(in: message)
        let flags = try fields.number(4, in: message)
        try fields.finish()
        let key = try agent.keys().key(of: blob)
        do {
            try check(key, signing: content, in: message)
            if key.isConfirmed, try !Askpass.confirms("Allow use of key \(key.comment)?\n\(key.publicKey.fingerprint)")
            {
                throw CofferError(.userCanceled, "the use was not confirmed")
            }
            // The connection may have idled while a person was asked.
            let signed = try Secret(copying: message.extracting(content))
            let signature = try agent.keys().signature(of: signed, by: key, flags: flags)
            var writer = SSHWriter(.signResponse)
            writer.string(signature)
            return writer.bytes
        } catch let error as CofferError {
            throw CofferError(error.code, "\(key.quoted) did not sign: \(error.message)", hint: error.hint)
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
    fileprivate static let agentIsLocked = CofferError(
        .notAvailable,
        "the agent is locked",
        hint: "'ssh-add -X' unlocks it"
    )
}
