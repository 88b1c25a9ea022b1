package import CofferCore
package import CofferMemory

/// What travels at once: a message, and bytes that must not ride inside JSON.
///
/// On the wire it is a ``FrameHeader``, the message as JSON, and the payload as it is.
package struct Frame: ~Copyable, Sendable {
    /// The message.
    ///
    /// A text that is no JSON inside a frame that is one is its sender's concern alone: the stream goes on.
    package let json: Result<JSONValue, JSONError>
    /// The bytes that the message had as text.
    package let jsonByteCount: Int
    /// The payload; `nil` where it has no bytes, so that the many frames without one cost no locked memory.
    package var payload: SecretBytes?
    /// Whether it had a payload that was wiped before all of it had come: what it asks for can't be done.
    package let isPayloadWiped: Bool

    /// The bytes of both.
    package var byteCount: Int { jsonByteCount + payload.byteCount }

    /// Takes the payload out.
    package consuming func takePayload() -> SecretBytes? { payload }
}

/// The eight bytes before a frame: the byte counts of its JSON and of its payload, each as a big-endian 32-bit integer.
package struct FrameHeader: Equatable, Sendable {
    /// The bytes of a header.
    package static let byteCount = 8

    /// The bytes of the JSON.
    package let jsonCount: UInt32
    /// The bytes of the payload.
    package let payloadCount: UInt32

    /// Takes a header apart.
    ///
    /// - Parameter word: The eight bytes, as one big-endian integer.
    init(word: UInt64) {
        jsonCount = UInt32(truncatingIfNeeded: word >> 32)
        payloadCount = UInt32(truncatingIfNeeded: word)
    }

    /// Writes a header.
    ///
    /// Whether the counts are within the limits is for the sender to know.
    ///
    /// - Parameters:
    ///   - jsonCount: The bytes of the JSON, fewer than 2³².
    ///   - payloadCount: The bytes of the payload, fewer than 2³².
    /// - Returns: The eight bytes.
    package static func encode(jsonCount: Int, payloadCount: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt32(jsonCount))
        writer.write(UInt32(payloadCount))
        return writer.bytes
    }
}

/// Why a stream of frames can't be read on.
///
/// Nothing behind it makes sense: the connection has to be closed.
package enum FrameError: Error, Equatable, Sendable {
    /// The header announces that many bytes of JSON, more than the limit.
    case jsonTooLong(UInt32)
    /// The header announces that many bytes of payload, more than the limit.
    case payloadTooLong(UInt32)
    /// The header announces no JSON.
    case emptyJSON
    /// There is no locked memory for the payload.
    case noMemory
    /// Too much of other frames is on its way.
    case noRoom
}

extension FrameError {
    /// What the peer is told before the connection is closed.
    package var cofferError: CofferError {
        switch self {
        case .jsonTooLong(let count):
            CofferError(.dataTooLarge, "the frame's JSON has \(count) bytes, more than allowed")
        case .payloadTooLong(let count):
            CofferError(.dataTooLarge, "the frame's payload has \(count) bytes, more than allowed")
        case .emptyJSON: CofferError(.param, "the frame has no JSON")
        case .noRoom: .noRoomInTransit
        case .noMemory: .noSecretMemory
        }
    }
}

extension CofferError {
    /// The answer where too much is on its way between the daemon and its clients.
    package static let noRoomInTransit = CofferError(
        .notAvailable,
        "too much is on its way between the daemon and its clients",
        hint: "try again in a moment"
    )
}
