import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation

/// A sent request and its answer.
final class SentRequest {
    let number: Int
    let client: Int
    let operation: Operation
    /// When it was sent and answered, in observed events.
    let sentAt: Int
    private(set) var answeredAt = Int.max
    private(set) var answer: Answer?
    /// Whether it was asked to be cancelled.
    var isCanceled = false
    /// The concurrent disturbances while it was pending.
    private(set) var disturbance = Disturbance()

    init(_ number: Int, of client: Int, _ operation: Operation, at time: Int) {
        (self.number, self.client, self.operation, sentAt) = (number, client, operation, time)
    }

    func meet(_ other: Disturbance) { disturbance.formUnion(other) }

    func take(_ answer: Answer, at time: Int) { (self.answer, answeredAt) = (answer, time) }

    /// Whether it begins only after the answer to another request.
    ///
    /// A cancelled request does not wait.
    func follows(_ other: SentRequest) -> Bool {
        other.answeredAt < sentAt
            || (answer?.refusal?.code != .userCanceled && other.client == client && other.number < number
                && operation.dependsOn(other.operation))
    }
}

extension SentRequest: CustomStringConvertible {
    var description: String {
        "\(number) of client \(client) at \(sentAt): \(operation): \(answer.map { "\($0), at \(answeredAt)" } ?? "no answer")"
    }
}

/// An answer of the daemon.
struct Answer: CustomStringConvertible {
    let request: Int
    let refusal: CofferError?
    let result: JSONObject
    let payload: [UInt8]

    var description: String {
        if let refusal { return "\(refusal.code.rawValue) (\(refusal.message))" }
        let state = result["state"]?.stringValue.map { " in \($0)" } ?? ""
        return payload.isEmpty ? "done\(state)" : "\(Content(payload))"
    }
}

/// A connection of a sequence, on which many requests may be pending.
final class SequencePeer {
    private let socket: OwnedDescriptor
    private var decoder = FrameDecoder()
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)

    init(_ path: String) throws { socket = try UnixSocket.connect(to: path) }

    var descriptor: Int32 { socket.number }

    /// Sends a request.
    ///
    /// - Returns: Whether the daemon is running.
    func send(_ request: SentRequest, handle: (Int) -> Int64) throws -> Bool {
        let (method, params, payload) = request.operation.message(handle: handle)
        guard case .put(_, let content, _, isPassed: true) = request.operation else {
            return send(request.number, method, params, payload)
        }
        let file = try TemporaryDirectory()
        let handle = FileHandle(forReadingAtPath: try file.write(content.bytes, to: "content"))
        return send(request.number, method, params, payload, passing: handle?.fileDescriptor)
    }

    /// Sends a request of any method.
    ///
    /// - Returns: Whether the daemon is running.
    func send(
        _ number: Int,
        _ method: String,
        _ params: JSONObject,
        _ payload: [UInt8] = [],
        passing descriptor: Int32? = nil
    ) -> Bool {
        let json = Request(id: .integer(Int64(number)), method: method, params: params).serialized()
        let bytes = FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json + payload
        return send(bytes, passing: descriptor)
    }

    private func send(_ bytes: [UInt8], passing descriptor: Int32?) -> Bool {
        var done = 0
        while done < bytes.count {
            let passed = done == 0 ? descriptor : nil
            do {
                done += try socket.send(bytes.span.bytes.extracting(droppingFirst: done), passing: passed) ?? 0
            } catch { return false }
        }
        return true
    }

    /// Takes the received answers.
    ///
    /// - Returns: The answers; `nil` if the daemon has closed the connection.
    func receive() throws -> [Answer]? {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let piece = Array(buffer.prefix(count))
        var answers: [Answer] = []
        var offset = 0
        while let frame = try decoder.decode(piece.span.bytes, at: &offset) {
            guard case .response(.integer(let number), let outcome) = try Incoming(try frame.json.get()) else {
                continue
            }
            let payload: [UInt8] =
                switch frame.takePayload() {
                case .none: []
                case .some(let bytes): bytes.exposeBytes()
                }
            switch outcome {
            case .success(let result):
                let object = result.objectValue ?? [:]
                answers.append(Answer(request: Int(number), refusal: nil, result: object, payload: payload))
            case .failure(let error):
                answers.append(Answer(request: Int(number), refusal: error, result: [:], payload: payload))
            }
        }
        return answers
    }
}
