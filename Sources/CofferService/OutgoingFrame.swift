internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// A frame on its way to a client.
final class OutgoingFrame {
    /// The request that it answers; `nil` for what answers none.
    let id: RequestID?
    /// Header and JSON.
    let head: [UInt8]
    /// The payload, in locked memory until it is sent.
    let payload: SecretBytes?
    /// Whether it tells of the catalog as a turn made it: with the turn undone, it is wrong.
    let isTentative: Bool
    /// Whether the payload may not outlive a lock.
    let isWithheldByLock: Bool
    /// How many bytes of both are sent.
    var sentCount = 0

    init(
        id: RequestID?,
        json: [UInt8],
        payload: consuming SecretBytes? = nil,
        isTentative: Bool = false,
        isWithheldByLock: Bool = false
    ) {
        self.id = id
        self.isTentative = isTentative
        self.isWithheldByLock = isWithheldByLock
        let payloadCount = payload.byteCount
        head = FrameHeader.encode(jsonCount: json.count, payloadCount: payloadCount) + json
        self.payload = payload
    }

    /// The bytes of both.
    var byteCount: Int { head.count + payload.byteCount }
}
