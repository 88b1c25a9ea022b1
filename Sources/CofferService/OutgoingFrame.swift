internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// A frame on its way to a client.
final class OutgoingFrame {
    /// The request that it answers; `nil` for what answers none.
    let id: RequestID?
    /// Header and JSON; nothing for a peer that wants the payload alone.
    let head: [UInt8]
    /// The payload, in locked memory until it is sent.
    let payload: SecretBytes?
    /// Of the item that the payload is of: it may not outlive its key.
    let protection: Protection?
    /// When it was queued.
    var start: UInt64 = 0
    /// How many bytes of both are sent.
    var sentCount = 0

    init(
        id: RequestID?,
        json: [UInt8]?,
        payload: consuming SecretBytes? = nil,
        protection: Protection? = nil
    ) {
        self.id = id
        self.protection = protection
        let payloadCount = payload.byteCount
        head = json.map { FrameHeader.encode(jsonCount: $0.count, payloadCount: payloadCount) + $0 } ?? []
        self.payload = payload
    }

    /// The news of an event.
    convenience init(_ event: VaultEvent) {
        self.init(
            id: nil,
            json: Response.notificationBytes(method: event.notification.rawValue, params: event.json)
        )
    }

    /// Whether the payload may still be handed over in a state of the vault.
    func mayBeSent(in state: VaultState) -> Bool { protection?.mayBeSent(in: state) ?? true }

    /// The bytes of both.
    var byteCount: Int { head.count + payload.byteCount }
}

extension Protection {
    /// Whether a content may still be handed over in a state of the vault: reading it was decided before.
    func mayBeSent(in state: VaultState) -> Bool {
        switch self {
        case .keychain(let accessibility): accessibility.isAvailable(in: state)
        case .file(let protectionClass): protectionClass.permits(.proceed, in: state)
        }
    }
}
