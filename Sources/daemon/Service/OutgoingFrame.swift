internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// A frame to send to a client.
final class OutgoingFrame {
    /// The id of the request that it answers; `nil` if it answers none.
    let id: RequestID?
    /// Header and JSON; empty for a peer that gets the payload alone.
    let head: [UInt8]
    /// The payload, in locked memory.
    let payload: SecretBytes?
    /// The protection of the payload's item: the payload must not outlive its key.
    let protection: Protection?
    /// The time when it was queued.
    var start: UInt64 = 0
    /// Whether it notifies of an event, which a client that does not read may miss.
    var isEvent = false
    /// The number of bytes sent, of head and payload.
    var sentCount = 0

    init(id: RequestID?, head: [UInt8], payload: consuming SecretBytes?, protection: Protection?) {
        self.id = id
        self.head = head
        self.protection = protection
        self.payload = payload
    }

    convenience init(id: RequestID?, json: [UInt8]) {
        let header = FrameHeader.encode(jsonCount: json.count, payloadCount: 0)
        self.init(id: id, head: header + json, payload: nil, protection: nil)
    }

    /// Sends bytes that are a frame already, and that other clients may get as well.
    init(_ bytes: [UInt8]) {
        id = nil
        head = bytes
        payload = nil
        protection = nil
    }

    convenience init(_ notification: Notification, _ params: JSONObject) {
        self.init(notification.frame(params))
    }

    convenience init(_ error: CofferError, to id: RequestID? = nil) {
        self.init(id: id, json: Response.failureBytes(id: id, error: error))
    }

    /// Whether the payload may be sent in a state of the vault.
    func mayBeSent(in state: VaultState) -> Bool { protection?.mayBeSent(in: state) ?? true }

    /// The size of head and payload.
    var byteCount: Int { head.count + payload.byteCount }
}

extension Protection {
    /// Whether a content may be sent in a state of the vault, after reading it was permitted.
    func mayBeSent(in state: VaultState) -> Bool {
        switch self {
        case .keychain(let accessibility): accessibility.isAvailable(in: state)
        case .file(let protectionClass): protectionClass.permits(.proceed, in: state)
        }
    }
}

extension Notification {
    /// A frame that notifies a client.
    func frame(_ params: JSONObject) -> [UInt8] {
        let json = Response.notificationBytes(method: rawValue, params: params)
        return FrameHeader.encode(jsonCount: json.count, payloadCount: 0) + json
    }
}

extension VaultEvent {
    /// The frame that notifies a client of it.
    var frame: [UInt8] { notification.frame(json) }
}
