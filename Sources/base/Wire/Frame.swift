package import CofferCore
package import CofferMemory

/// A frame: a message, and bytes that must not be inside JSON.
///
/// On the wire it is a ``FrameHeader``, the message as JSON, and the raw payload.
package struct Frame: ~Copyable, Sendable {
    /// The message.
    ///
    /// A malformed text inside a valid frame is an error of that message only: the stream continues.
    package let json: Result<JSONValue, JSONError>
    /// The size of the message as text.
    package let jsonByteCount: Int
    /// The payload; `nil` if it is empty, so that frames without one cost no locked memory.
    package var payload: SecretBytes?
    /// Whether a lock wiped its incomplete payload, so that the request can't be carried out.
    package let isPayloadWiped: Bool

    /// The size of both.
    package var byteCount: Int { jsonByteCount + payload.byteCount }

    /// Takes the payload.
    package consuming func takePayload() -> SecretBytes? { payload }
}

/// The eight bytes before a frame: the sizes of its JSON and of its payload, each as a big-endian 32-bit integer.
package struct FrameHeader: Equatable, Sendable {
    /// The size of a header.
    package static let byteCount = 8

    /// The size of the JSON.
    package let jsonCount: UInt32
    /// The size of the payload.
    package let payloadCount: UInt32

    /// Parses a header.
    ///
    /// - Parameter word: The eight bytes, as one big-endian integer.
    init(word: UInt64) {
        jsonCount = UInt32(truncatingIfNeeded: word >> 32)
        payloadCount = UInt32(truncatingIfNeeded: word)
    }

    /// Writes a header.
    ///
    /// The caller checks the limits.
    ///
    /// - Parameters:
    ///   - jsonCount: The size of the JSON, less than 2³².
    ///   - payloadCount: The size of the payload, less than 2³².
    package static func encode(jsonCount: Int, payloadCount: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt32(jsonCount))
        writer.write(UInt32(payloadCount))
        return writer.bytes
    }
}

/// Why a stream of frames can't be read any further.
///
/// The rest of the stream is meaningless: the connection must be closed.
package enum FrameError: Error, Equatable, Sendable {
    /// The header announces that many bytes of JSON, more than the limit.
    case jsonTooLong(UInt32)
    /// The header announces that many bytes of payload, more than the limit.
    case payloadTooLong(UInt32)
    /// The header announces no JSON.
    case emptyJSON
    /// No locked memory is available for the payload.
    case noMemory
    /// The buffer quota is used up by other frames.
    case noRoom
    /// A descriptor came when a part of its frame had been read.
    case lateDescriptor
}

extension FrameError {
    /// The error that is sent before the connection is closed.
    package var cofferError: CofferError {
        switch self {
        case .jsonTooLong(let count):
            CofferError(.dataTooLarge, "the frame's JSON has \(count) bytes, more than allowed")
        case .payloadTooLong(let count):
            CofferError(.dataTooLarge, "the frame's payload has \(count) bytes, more than allowed")
        case .emptyJSON: CofferError(.param, "the frame has no JSON")
        case .noRoom: .buffersAreFull
        case .lateDescriptor:
            CofferError(
                .param,
                "a descriptor came in the middle of a frame",
                hint: "pass it with the first byte of its frame"
            )
        case .noMemory: .noSecretMemory
        }
    }
}

extension CofferError {
    /// The error if the buffer quota of all connections is used up.
    package static let buffersAreFull = CofferError(
        .notAvailable,
        "the daemon's buffers for requests and answers are full",
        hint: "try again in a moment",
        retry: .later
    )
}
