public import CofferCore
package import CofferMemory
package import CofferSystem
package import CofferWire

/// A connection to `cofferd`.
///
/// Calls block until the daemon has answered. One thread uses a connection at a time; another one makes its own.
public final class BlockingClient {
    private var channel: FrameChannel
    private var nextRequestNumber: Int64 = 1
    /// Looks at each answer before the caller does, and may refuse it: for tests of the protocol.
    package var answerInspector: ((Method, Result<JSONValue, CofferError>) throws(CofferError) -> Void)?
    /// Events of the vault that nobody has asked for yet.
    private var events = EventBuffer()

    /// Connects.
    ///
    /// - Parameter socketPath: The path of the daemon's socket.
    /// - Throws: `notAvailable` where nobody listens there.
    public convenience init(socketPath: String) throws(CofferError) {
        let socket: OwnedDescriptor
        do {
            socket = try UnixSocket.connect(to: socketPath)
        } catch {
            throw .unreachable(socketPath, error)
        }
        try self.init(socket: socket)
    }

    /// Connects to the first of some sockets where somebody listens.
    ///
    /// - Parameter socketPaths: The paths, one at least.
    /// - Throws: What was wrong with the first of them, where nobody listens at any.
    package static func connect(toFirstOf socketPaths: [String]) throws(CofferError) -> BlockingClient {
        do throws(CofferError) {
            return try BlockingClient(socketPath: socketPaths[0])
        } catch {
            for path in socketPaths.dropFirst() {
                if let client = try? BlockingClient(socketPath: path) { return client }
            }
            throw error
        }
    }

    /// Speaks over a socket that is connected already.
    ///
    /// - Parameter socket: A blocking stream socket.
    /// - Throws: `internal` where memory for secrets can't be locked.
    package init(socket: consuming OwnedDescriptor) throws(CofferError) {
        channel = try FrameChannel(socket)
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
    func takeEvent() -> VaultEvent? { events.takeFirst() }

    /// A newer daemon may send news that this build does not know.
    private func keepEvent(_ method: String, _ params: JSONObject) {
        if let event = VaultEvent(notification: method, params) { events.append(event) }
    }

    private func send(_ json: [UInt8], _ payload: borrowing SecretBytes?, _ descriptor: Int32?) throws(CofferError) {
        let head = FrameHeader.encode(jsonCount: json.count, payloadCount: payload.byteCount) + json
        var done = 0
        do throws(SystemError) {
            while done < head.count + payload.byteCount {
                done += try channel.send(head, payload, from: done, passing: descriptor) ?? 0
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

    private func receiveFrame() throws(CofferError) -> Frame {
        while true {
            if let frame = try channel.nextFrame() { return frame }
            let arrival: FrameChannel.Arrival
            do { arrival = try channel.receive() } catch { throw gone(error.reason) }
            if arrival == .end { throw gone("it closed the connection") }
        }
    }

    private func gone(_ reason: String) -> CofferError { .connectionBroken(reason) }
}
