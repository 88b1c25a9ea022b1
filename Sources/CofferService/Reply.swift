internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

/// What a handler answers: a result, and bytes that must not ride in JSON.
struct Reply: ~Copyable {
    let result: JSONObject
    let payload: SecretBytes?
    /// Of the item that the payload is of: it may not outlive its key.
    let protection: Protection?
    /// The items that it is about, where the parameters of the request do not name them.
    var items: [AuditedItem] = []
    /// Whether it would be the same if all that waits to be committed came to nothing.
    var isCommitted = false

    init(_ result: some WireObject, payload: consuming SecretBytes? = nil, protection: Protection? = nil) {
        self.result = result.json
        self.payload = payload
        self.protection = protection
    }

    /// Takes the payload out.
    consuming func takePayload() -> SecretBytes? { payload }
}

/// What came with a request besides its parameters.
///
/// A class, so that a handler that waits can hold it.
final class Attachments {
    private var payload: SecretBytes?
    private var descriptor: OwnedDescriptor?

    init(payload: consuming SecretBytes?, descriptor: consuming OwnedDescriptor?) {
        self.payload = payload
        self.descriptor = descriptor
    }

    /// Whether a descriptor came with it that nobody has taken yet.
    var hasDescriptor: Bool { descriptor != nil }

    /// Takes the payload, which is then the handler's.
    func takePayload() -> SecretBytes? { payload.take() }

    /// Takes the descriptor, which is then the handler's.
    ///
    /// - Throws: `param` for a client's own connection to us: with both ends in our hands its end would never come.
    func takeDescriptor() throws(CofferError) -> OwnedDescriptor? {
        guard let descriptor = descriptor.take() else { return nil }
        if PeerIdentity.isOwnConnection(descriptor) {
            throw CofferError(.param, "the descriptor passed is a connection to this daemon")
        }
        return descriptor
    }

    /// Refuses what the method has no use for: a client that sends it has made a mistake.
    func refuseLeftovers(of method: Method) throws(CofferError) {
        if payload.byteCount > 0 { throw CofferError(.param, "'\(method.rawValue)' takes no payload") }
        if descriptor != nil { throw CofferError(.param, "'\(method.rawValue)' takes no descriptor") }
    }
}
