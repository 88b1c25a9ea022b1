package import CofferCore
package import CofferSystem
package import CofferWire

/// A descriptor that is passed with a request.
package final class PassedDescriptor: Sendable {
    /// Its number.
    package let number: Int32
    private let owned: OwnedDescriptor?

    /// Borrows a descriptor, which the caller keeps open until the call has ended.
    package init(borrowing number: Int32) {
        self.number = number
        owned = nil
    }

    /// Takes ownership of a descriptor, which is closed after it was sent.
    package init(_ descriptor: consuming OwnedDescriptor) {
        number = descriptor.number
        owned = consume descriptor
    }
}

/// A request from its first byte to its answer.
package struct Call: Sendable {
    /// Its number on the wire: positive, and unique for the client.
    package let number: Int64
    /// `nil` for a request that the machine itself sends.
    let method: Method?
    /// The header and the JSON of its frame.
    package let head: [UInt8]
    /// The size of its frame.
    let byteCount: Int
    /// The only connection on which it is valid; `nil` for any.
    let epoch: Int?
    private(set) var passesDescriptor = false

    package private(set) var payload: Secret?
    /// Kept until it was sent.
    private var passed: PassedDescriptor?
    /// How many bytes of head and payload were sent.
    package private(set) var sentCount = 0
    /// How many connections broke during the call.
    private(set) var lossCount = 0
    /// The deadline of the daemon's answer after a request to cancel.
    var patienceEnds: ClientMachine.Instant?
    /// Whether its outcome was reported; the answer is still expected, and ignored.
    var isSettled = false

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - method: Its method.
    ///   - params: Its parameters.
    ///   - payload: The bytes to send with it.
    ///   - descriptor: The descriptor to pass.
    ///   - epoch: The only connection on which it is valid; `nil` for any.
    /// - Throws: `dataTooLarge` if the payload exceeds the limit of a frame.
    package init(
        _ number: Int64,
        _ method: Method,
        _ params: JSONObject,
        payload: Secret? = nil,
        descriptor: PassedDescriptor? = nil,
        epoch: Int? = nil
    ) throws(CofferError) {
        let count = payload?.count ?? 0
        if count > Limits.framePayloadBytes {
            throw CofferError(
                .dataTooLarge,
                "\(count) bytes are more than the \(Limits.framePayloadBytes) that can be sent at once",
                hint: method.adviceOnSize
            )
        }
        let request = Request(id: .integer(number), method: method.rawValue, params: params)
        self.init(number, method, request, payloadCount: count, epoch)
        self.payload = payload
        passed = descriptor
        passesDescriptor = descriptor != nil
    }

    /// Makes a request from parameters that determine their method.
    package init<Parameters: MethodParameters>(
        _ number: Int64,
        _ params: Parameters,
        payload: Secret? = nil,
        descriptor: PassedDescriptor? = nil,
        epoch: Int? = nil
    ) throws(CofferError) {
        let (method, json) = (Parameters.method, Parameters.coding.params(params))
        try self.init(number, method, json, payload: payload, descriptor: descriptor, epoch: epoch)
    }

    /// The request to cancel another call, numbered with the negative of its number.
    init(cancelling number: Int64, on epoch: Int) {
        let params = RequestCancelParameters(.integer(number)).json
        let request = Request(id: .integer(-number), method: Method.requestCancel.rawValue, params: params)
        self.init(-number, nil, request, payloadCount: 0, epoch)
    }

    /// The number of the request that asks whether the daemon is there; calls have others.
    static let probeNumber: Int64 = 0

    /// Makes the request that asks whether the daemon is there.
    init(probeOn epoch: Int) {
        let params = HelloParameters(protocolNumber: Int64(Version.protocolNumber)).json
        let request = Request(id: .integer(Self.probeNumber), method: Method.hello.rawValue, params: params)
        self.init(Self.probeNumber, nil, request, payloadCount: 0, epoch)
    }

    private init(_ number: Int64, _ method: Method?, _ request: Request, payloadCount: Int, _ epoch: Int?) {
        let json = request.serialized()
        self.number = number
        self.method = method
        self.epoch = epoch
        head = FrameHeader.encode(jsonCount: json.count, payloadCount: payloadCount) + json
        byteCount = head.count + payloadCount
    }

    /// The descriptor to pass with the first byte of the frame.
    package var descriptor: Int32? { sentCount == 0 ? passed?.number : nil }

    /// Whether a second execution has no further effect.
    ///
    /// A passed descriptor can't be passed again.
    var isIdempotent: Bool { method?.isIdempotent == true && !passesDescriptor }

    /// Whether it may be sent again on a new connection.
    ///
    /// - Parameter wasSent: Whether all its bytes were sent, so that the daemon may have executed it.
    func mayBeRepeated(wasSent: Bool) -> Bool {
        method != nil && epoch == nil && patienceEnds == nil && !isSettled && (!wasSent || isIdempotent)
    }

    /// Counts sent bytes.
    ///
    /// - Returns: Whether all were sent. What no repetition needs is released then, so that only the daemon
    ///   holds the other end of a stream.
    mutating func advance(by count: Int) -> Bool {
        sentCount += count
        if sentCount < byteCount { return false }
        passed = nil
        if !isIdempotent || isSettled { payload = nil }
        return true
    }

    /// Resets it for another connection.
    mutating func prepareRepetition() {
        sentCount = 0
        lossCount += 1
    }
}

extension Method {
    /// What to do with a payload that exceeds a frame.
    fileprivate var adviceOnSize: String? {
        switch self {
        case .fileWrite: "write them in pieces"
        case .itemPut: "send them in pieces, as a stream"
        case .keychainSign: "sign a hash of them"
        default: nil
        }
    }
}

/// An answer of the daemon.
package struct Answer: Sendable {
    /// The result, not decoded.
    package let json: JSONValue
    /// The payload of the answer.
    package let payload: Secret
    /// The connection on which it arrived.
    package let epoch: Int
}

/// The requests of a connection that the daemon has not answered.
struct Load {
    private var count = 0
    private var byteCount = 0
    private var storing = 0
    private var fetching = 0

    mutating func add(_ call: Call) {
        if call.method == nil { return }
        count += 1
        byteCount += call.byteCount
        if call.passesDescriptor && call.method == .itemPut { storing += 1 }
        if call.passesDescriptor && call.method != .itemPut { fetching += 1 }
    }

    var isFull: Bool { count >= Limits.requestsInFlight - 1 }

    func hasRoom(for call: Call) -> Bool {
        if count == 0 { return true }
        if call.passesDescriptor {
            let others = call.method == .itemPut ? storing : fetching
            if others >= Limits.transfersPerConnection / 2 { return false }
        }
        return byteCount + call.byteCount <= Limits.requestBytes - Limits.cancelRequestBytes
    }
}
