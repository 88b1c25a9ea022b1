package import CofferCore
package import CofferMemory
package import CofferSystem
package import CofferWire

/// What a handler answers: a result, and bytes that must not ride in JSON.
package struct Reply: ~Copyable {
    package let result: JSONObject
    package let payload: SecretBytes?
    /// Of the item that the payload is of: it may not outlive its key.
    package let protection: Protection?
    /// The items that it is about, where the parameters of the request do not name them.
    package var items: [AuditedItem] = []

    package init(_ result: some WireObject, payload: consuming SecretBytes? = nil, protection: Protection? = nil) {
        self.result = result.json
        self.payload = payload
        self.protection = protection
    }

    /// Takes the payload out.
    package consuming func takePayload() -> SecretBytes? { payload }
}

/// What came with a request besides its parameters.
///
/// A class, so that a handler that waits can hold it.
package final class Attachments {
    private var payload: SecretBytes?
    private var descriptor: OwnedDescriptor?

    package init(payload: consuming SecretBytes?, descriptor: consuming OwnedDescriptor?) {
        self.payload = payload
        self.descriptor = descriptor
    }

    /// Whether a descriptor came with it that nobody has taken yet.
    package var hasDescriptor: Bool { descriptor != nil }

    /// Takes the payload, which is then the handler's.
    package func takePayload() -> SecretBytes? { payload.take() }

    /// Takes the descriptor, which is then the handler's.
    ///
    /// - Throws: `param` for a client's own connection to us: with both ends in our hands its end would never come.
    package func takeDescriptor() throws(CofferError) -> OwnedDescriptor? {
        guard let descriptor = descriptor.take() else { return nil }
        if PeerIdentity.isOwnConnection(descriptor) {
            throw CofferError(.param, "the descriptor passed is a connection to this daemon")
        }
        return descriptor
    }

    /// Refuses what the method has no use for: a client that sends it has made a mistake.
    package func refuseLeftovers(of method: Method) throws(CofferError) {
        if payload.byteCount > 0 { throw CofferError(.param, "'\(method.rawValue)' takes no payload") }
        if descriptor != nil { throw CofferError(.param, "'\(method.rawValue)' takes no descriptor") }
    }
}

extension SecretBytes? {
    /// No bytes in place of none.
    consuming func orEmpty() throws(CofferError) -> SecretBytes {
        switch consume self {
        case .some(let bytes): return bytes
        case .none: do { return try SecretBytes(zeros: 0) } catch { throw .noSecretMemory }
        }
    }
}
