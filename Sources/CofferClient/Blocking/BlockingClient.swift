public import CofferCore
package import CofferMemory
package import CofferSystem
package import CofferWire

/// A connection to `cofferd`.
///
/// Calls block until the daemon has answered. One thread uses a connection at a time; another one makes its own.
public final class BlockingClient {
    private let socket: OwnedDescriptor
    private var decoder = FrameDecoder()
    private var buffer: SecretBytes
    /// What has arrived and was not decoded yet.
    private var pending = 0..<0
    private var nextRequestNumber: Int64 = 1
    /// Looks at each answer before the caller does, and may refuse it: for tests of the protocol.
    package var answerInspector: ((Method, Result<JSONValue, CofferError>) throws(CofferError) -> Void)?
    /// Events of the vault that nobody has asked for yet.
    private var events: [VaultEvent] = []
    /// More than a client that asks for events leaves between two looks at them.
    private static let maximumEvents = 1024

    /// Connects.
    ///
    /// - Parameter socketPath: The path of the daemon's socket.
    /// - Throws: `notAvailable` where nobody listens there.
    public convenience init(socketPath: String) throws(CofferError) {
        let socket: OwnedDescriptor
        do {
            socket = try UnixSocket.connect(to: socketPath)
        } catch {
            throw CofferError(
                .notAvailable,
                "can't reach the daemon at \(quotedForDisplay(socketPath)): \(error.reason)",
                hint: "start it: 'systemctl --user start cofferd.socket', or 'cofferd' by hand"
            )
        }
        try self.init(socket: socket)
    }

    /// Speaks over a socket that is connected already.
    ///
    /// - Parameter socket: A blocking stream socket.
    /// - Throws: `internal` where memory for secrets can't be locked.
    package init(socket: consuming OwnedDescriptor) throws(CofferError) {
        self.socket = socket
        do { buffer = try SecretBytes(zeros: 64 << 10) } catch { throw .noSecretMemory }
    }

    // MARK: Calling

    /// What a call brought back.
    package struct Returned<Value: WireObject>: ~Copyable {
        /// The result.
        package let value: Value
        /// The bytes that came with it.
        package let payload: SecretBytes?

        /// Takes the payload out.
        package consuming func takePayload() -> SecretBytes? { payload }
    }

    /// Sends a request and waits for its answer.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - params: Its parameters.
    ///   - payload: Bytes that go with it.
    ///   - descriptor: The number of a descriptor to pass along; it stays the caller's.
    ///   - progress: Told how far a transfer has come: the bytes done, and the bytes there are.
    /// - Returns: The result and the payload.
    /// - Throws: What the daemon answered, or `notAvailable` where it is gone, or `protocolViolation`.
    package func call<Value: WireObject>(
        _ method: Method,
        _ params: some WireObject,
        payload: borrowing SecretBytes? = nil,
        passing descriptor: Int32? = nil,
        returning: Value.Type = Value.self,
        progress: ((Int64, Int64?) -> Void)? = nil
    ) throws(CofferError) -> Returned<Value> {
        let id = RequestID.integer(nextRequestNumber)
        nextRequestNumber += 1
        let request = Request(id: id, method: method.rawValue, params: params.json)
        try send(request.serialized(), payload, descriptor)
        while true {
            let frame = try receiveFrame()
            guard case .success(let json) = frame.json else {
                throw CofferError(.protocolViolation, "the daemon's answer is not JSON")
            }
            switch try Incoming(json) {
            case .response(let answered, let outcome) where answered == id || answered == nil:
                if answered == id { try answerInspector?(method, outcome) }
                let value = try Value(result: try outcome.get())
                return Returned(value: value, payload: frame.takePayload())
            case .notification(Notification.progress.rawValue, let params):
                guard let report = try? ProgressParameters(result: .object(params)), report.request == id else {
                    continue
                }
                progress?(report.done, report.total)
            case .notification(let method, let params): keepEvent(method, params)
            case .response: continue
            }
        }
    }

    /// Waits for one message outside of a call.
    ///
    /// - Throws: `notAvailable` where the daemon is gone, or `protocolViolation`.
    func receiveNews() throws(CofferError) {
        guard case .success(let json) = try receiveFrame().json else {
            throw CofferError(.protocolViolation, "the daemon's news is not JSON")
        }
        switch try Incoming(json) {
        case .notification(let method, let params): keepEvent(method, params)
        // An answer that belongs to no request: the daemon says why it closes.
        case .response(_, .failure(let error)): throw error
        case .response: return
        }
    }

    /// Takes the oldest event that was not asked for yet.
    func takeEvent() -> VaultEvent? { events.isEmpty ? nil : events.removeFirst() }

    /// A newer daemon may send news that this build does not know.
    private func keepEvent(_ method: String, _ params: JSONObject) {
        guard let event = VaultEvent(notification: method, params) else { return }
        guard events.count == Self.maximumEvents else { return events.append(event) }
        // The newest of what is kept tells that more came.
        if case .eventsMissed(let count)? = events.last {
            events[events.count - 1] = .eventsMissed(count + 1)
        } else {
            events[events.count - 1] = .eventsMissed(2)
        }
    }

    private func send(_ json: [UInt8], _ payload: borrowing SecretBytes?, _ descriptor: Int32?) throws(CofferError) {
        do throws(SystemError) {
            switch payload {
            case .none:
                try sendAll(FrameHeader.encode(jsonCount: json.count, payloadCount: 0) + json, RawSpan(), descriptor)
            case .some(let payload):
                let head = FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json
                try payload.withBytes { (bytes) throws(SystemError) in try sendAll(head, bytes, descriptor) }
            }
        } catch {
            // A daemon that turned us away has said why before it closed.
            if let frame = try? receiveFrame(), case .success(let json) = frame.json,
                case .response(_, .failure(let reason)) = try Incoming(json)
            {
                throw reason
            }
            throw gone(error.reason)
        }
    }

    private func sendAll(_ head: [UInt8], _ payload: RawSpan, _ descriptor: Int32?) throws(SystemError) {
        var done = 0
        var passed = descriptor
        while done < head.count + payload.byteCount {
            let first = unsafe head.span.bytes.extracting(droppingFirst: min(done, head.count))
            let second = payload.extracting(droppingFirst: max(0, done - head.count))
            done += try socket.send(first, second, passing: passed) ?? 0
            passed = nil
        }
    }

    private func receiveFrame() throws(CofferError) -> Frame {
        while true {
            if let frame = try decodePending() { return frame }
            let arrival = unsafe buffer.withUnsafeMutableBytes { memory in
                Result { () throws(SystemError) in unsafe try socket.read(into: memory) }
            }
            let count: Int
            do { count = try arrival.get() } catch { throw gone(error.reason) }
            if count == 0 { throw gone("it closed the connection") }
            pending = 0..<count
        }
    }

    /// Takes the next frame out of what has arrived: an answer may come right behind a notification.
    private func decodePending() throws(CofferError) -> Frame? {
        if pending.isEmpty { return nil }
        let end = pending.upperBound
        var offset = pending.lowerBound
        let frame: Frame?
        do throws(FrameError) {
            frame = try buffer.withBytes { (bytes) throws(FrameError) in
                try decoder.decode(bytes.extracting(first: end), at: &offset)
            }
        } catch {
            throw CofferError(.protocolViolation, "the daemon's answer is not a frame: \(error.cofferError.message)")
        }
        pending = offset..<end
        if pending.isEmpty { buffer.wipe(first: end) }
        return frame
    }

    private func gone(_ reason: String) -> CofferError {
        CofferError(.notAvailable, "the connection to the daemon is broken: \(reason)", hint: "repeat the command")
    }
}
