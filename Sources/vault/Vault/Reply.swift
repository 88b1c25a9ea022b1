package import CofferCore
package import CofferMemory
package import CofferSystem
package import CofferWire

/// The answer of a handler: a result, and bytes that must not be in JSON.
package struct Reply: ~Copyable {
    package let value: any WireObject
    package let payload: SecretBytes?
    /// The protection of the payload's item: the payload must not outlive its key.
    package let protection: Protection?
    /// The items that the request concerned, if its parameters don't name them.
    package var items: [AuditedItem] = []

    package init(_ result: some WireObject, payload: consuming SecretBytes? = nil, protection: Protection? = nil) {
        value = result
        self.payload = payload
        self.protection = protection
    }

    /// The result, as it travels.
    package var result: JSONObject { value.json }

    package consuming func takePayload() -> SecretBytes? { payload }
}

/// The payload and the descriptor of a request.
///
/// A class, so that a handler can hold it while it waits.
package final class Attachments {
    private var payload: SecretBytes?
    private var descriptor: PeerDescriptor?

    package init(payload: consuming SecretBytes?, descriptor: consuming PeerDescriptor?) {
        self.payload = payload
        self.descriptor = descriptor
    }

    /// Whether a descriptor came with it that was not taken yet.
    package var hasDescriptor: Bool { descriptor != nil }

    /// Takes the payload out, which the handler then owns.
    package func takePayload() -> SecretBytes? { payload.take() }

    /// Takes the descriptor out, which the handler then owns.
    ///
    /// - Throws: `param` for a connection to this daemon: it would hold both ends, and never see the end of the stream.
    package func takeDescriptor() throws(CofferError) -> PeerDescriptor? {
        guard let descriptor = descriptor.take() else { return nil }
        if descriptor.withSocket({ PeerIdentity.isOwnConnection($0) }) {
            throw CofferError(.param, "the descriptor passed is a connection to this daemon")
        }
        return descriptor
    }

    /// Takes a socket out, over which the daemon sends a single message: it waits for nothing from it, whichever
    /// connection it is.
    ///
    /// - Returns: `nil` if it is none.
    func takeSocket() -> PeerDescriptor? {
        guard let descriptor = descriptor.take(), descriptor.isSocket else { return nil }
        return descriptor
    }

    /// Refuses attachments that a method does not take: the client has made a mistake.
    package func check(for method: Method) throws(CofferError) {
        if payload.byteCount > 0 && method.takenPayload == nil {
            throw CofferError(.param, "'\(method.rawValue)' takes no payload")
        }
        if descriptor != nil && method.descriptor == nil {
            throw CofferError(.param, "'\(method.rawValue)' takes no descriptor")
        }
    }
}

extension SecretBytes? {
    package consuming func orEmpty() throws(CofferError) -> SecretBytes {
        switch consume self {
        case .some(let bytes): return bytes
        case .none: do { return try SecretBytes(zeros: 0) } catch { throw .noSecretMemory }
        }
    }
}
