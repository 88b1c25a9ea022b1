package import CofferSecretFormats
package import CofferCore
internal import CofferCrypto

/// The binding of a connection to a session of SSH: `session-bind@openssh.com`.
package struct AgentBinding {
    static let name = "session-bind@openssh.com"

    let hostKey: [UInt8]
    let session: [UInt8]
    let isForwarding: Bool

    /// Parses a binding, and verifies the signature of the host over the identifier of the session.
    ///
    /// - Throws: `unimplemented` if the type of the host key is not known: what can't be verified is not recorded;
    ///   `authFailed` if the signature is not valid.
    package init(_ fields: inout KeyCursor, in bytes: RawSpan) throws(CofferError) {
        hostKey = bytes.copy(try fields.string(in: bytes))
        let session = try fields.string(in: bytes)
        let signature = try fields.string(in: bytes)
        isForwarding = try fields.number(1, in: bytes) != 0
        try fields.finish()
        self.session = bytes.copy(session)
        guard try SSHHostKey(hostKey).isValid(bytes.copy(signature), of: bytes.extracting(session)) else {
            throw CofferError(.authFailed, "can't bind the connection: the signature of the host is not valid")
        }
    }

    /// Checks the binding against the earlier ones of the connection.
    ///
    /// - Throws: `param` if the session is bound already, or the connection was bound for an authentication.
    package func check(against earlier: [AgentBinding]) throws(CofferError) {
        guard earlier.allSatisfy(\.isForwarding), earlier.allSatisfy({ $0.session != session }),
            earlier.count < Limits.agentBindings
        else { throw CofferError(.param, "can't bind the connection: it is bound already") }
    }
}
