import CofferCore
import CofferMemory
import CofferSystem
import CofferWire

/// A connection that speaks the protocol, with pipelining.
///
/// It does not use the client library, whose own work must not be measured. The contents of a benchmark are
/// not secret.
final class BenchmarkConnection {
    private let socket: OwnedDescriptor
    private var decoder = FrameDecoder()
    // Small, because there are thousands of connections.
    private var buffer = [UInt8](repeating: 0, count: 8 << 10)
    private var pending = 0..<0
    /// The payload of the latest frame.
    private(set) var lastPayload: [UInt8] = []

    /// The number of the descriptor.
    var number: Int32 { socket.number }

    init(to path: String) throws { socket = try UnixSocket.connect(to: path) }

    /// The frame of a request.
    static func frame(_ method: String, _ params: JSONObject, _ payload: [UInt8]) -> [UInt8] {
        let json = Request(id: .integer(1), method: method, params: params).serialized()
        return FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json + payload
    }

    func send(_ bytes: [UInt8], passing descriptor: Int32? = nil) throws {
        var done = 0
        while done < bytes.count {
            let rest = unsafe bytes.span.bytes.extracting(droppingFirst: done)
            done += try socket.send(rest, passing: done == 0 ? descriptor : nil) ?? 0
        }
    }

    /// Sends a request and waits for its answer.
    @discardableResult
    func call(
        _ method: String,
        _ params: JSONObject = [:],
        payload: [UInt8] = [],
        passing descriptor: Int32? = nil
    ) throws -> JSONObject {
        try send(Self.frame(method, params, payload), passing: descriptor)
        return try answer()
    }

    /// Waits for the next answer.
    func answer() throws -> JSONObject {
        while true {
            if case .response(_, let outcome) = try receive() { return try outcome.get().objectValue ?? [:] }
        }
    }

    /// Waits for a notification, which must have that name.
    func expectNotification(_ name: String) throws {
        guard case .notification(name, _) = try receive() else {
            throw CofferError(.protocolViolation, "something else came where the notification '\(name)' was due")
        }
    }

    private func receive() throws -> Incoming {
        while true {
            if let frame = try decodePending() {
                let json = frame.json
                lastPayload = []
                if let payload = frame.takePayload() { lastPayload = payload.exposeBytes() }
                return try Incoming(try json.get())
            }
            let count = unsafe try buffer.withUnsafeMutableBytes { unsafe try socket.read(into: $0) }
            if count == 0 { throw CofferError(.notAvailable, "the daemon closed the connection") }
            pending = 0..<count
        }
    }

    private func decodePending() throws -> Frame? {
        var offset = pending.lowerBound
        // The span of a property ends with the access to it; a local copy of the array shares its buffer.
        let arrived = buffer
        let frame = unsafe try decoder.decode(arrived.span.bytes.extracting(first: pending.upperBound), at: &offset)
        pending = offset..<pending.upperBound
        return frame
    }
}
