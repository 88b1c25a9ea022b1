package import CofferCore
package import CofferMemory
package import CofferSystem
package import CofferWire

/// A descriptor that goes with a request.
package final class PassedDescriptor: Sendable {
    /// Its number.
    package let number: Int32
    private let owned: OwnedDescriptor?

    /// Borrows a descriptor that the caller keeps open until the call has ended.
    package init(borrowing number: Int32) {
        self.number = number
        owned = nil
    }

    /// Takes over a descriptor, which is closed once it was sent.
    package init(_ descriptor: consuming OwnedDescriptor) {
        number = descriptor.number
        owned = consume descriptor
    }
}

/// A request on its way, from its first byte to its answer.
package struct Call: Sendable {
    /// Its number on the wire: positive, and never used twice by one client.
    package let number: Int64
    /// `nil` for an order to cancel, which the machine sends by itself.
    let method: Method?
    /// The header and the JSON of its frame.
    let head: [UInt8]
    /// The bytes of its frame.
    let byteCount: Int
    /// The only connection on which it means anything.
    let epoch: Int?
    private(set) var passesDescriptor = false

    /// `nil` also where the shell keeps the payload to itself.
    private(set) var payload: Secret?
    /// Kept until it was sent.
    private(set) var descriptor: PassedDescriptor?
    private(set) var sentCount = 0
    /// How many connections broke under it.
    private(set) var lossCount = 0
    /// When the daemon, asked to cancel it, has to have answered.
    var patienceEnds: ClientMachine.Instant?
    /// Whether its outcome was given; its answer is awaited all the same.
    var isSettled = false

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - method: Its method.
    ///   - params: Its parameters.
    ///   - payload: The bytes that go with it, for the machine to keep until they are sent.
    ///   - payloadCount: Their count, where the shell keeps them instead.
    ///   - descriptor: The descriptor that goes with it.
    ///   - epoch: The only connection on which it means anything.
    /// - Throws: `dataTooLarge` where the payload is larger than a frame may hold.
    package init(
        _ number: Int64,
        _ method: Method,
        _ params: JSONObject,
        payload: Secret? = nil,
        payloadCount: Int? = nil,
        descriptor: PassedDescriptor? = nil,
        epoch: Int? = nil
    ) throws(CofferError) {
        let count = payloadCount ?? payload?.count ?? 0
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
        self.descriptor = descriptor
        passesDescriptor = descriptor != nil
    }

    /// Makes a request of parameters that name their method.
    package init<Parameters: MethodParameters>(
        _ number: Int64,
        _ params: Parameters,
        payload: Secret? = nil,
        descriptor: PassedDescriptor? = nil,
        epoch: Int? = nil
    ) throws(CofferError) {
        try self.init(number, Parameters.method, params.json, payload: payload, descriptor: descriptor, epoch: epoch)
    }

    /// The order to cancel another call, under the negative of its number.
    init(cancelling number: Int64, on epoch: Int) {
        let params = RequestCancelParameters(.integer(number)).json
        let request = Request(id: .integer(-number), method: Method.requestCancel.rawValue, params: params)
        self.init(-number, nil, request, payloadCount: 0, epoch)
    }

    private init(_ number: Int64, _ method: Method?, _ request: Request, payloadCount: Int, _ epoch: Int?) {
        let json = request.serialized()
        self.number = number
        self.method = method
        self.epoch = epoch
        head = FrameHeader.encode(jsonCount: json.count, payloadCount: payloadCount) + json
        byteCount = head.count + payloadCount
    }

    /// Whether the daemon may be asked a second time without doing anything a second time.
    ///
    /// A descriptor that was passed is used up.
    var isIdempotent: Bool { method?.isIdempotent == true && !passesDescriptor }

    /// Whether it may go out on a new connection, after the one that it was on has broken.
    ///
    /// - Parameter wasSent: Whether the daemon may have it, and have acted on it: all its bytes had gone out.
    func mayBeRepeated(wasSent: Bool) -> Bool {
        method != nil && epoch == nil && patienceEnds == nil && !isSettled && (!wasSent || isIdempotent)
    }

    /// Counts bytes that have gone out.
    ///
    /// - Returns: Whether all of them have. What is not needed again is dropped then: of a stream, the daemon alone has the
    ///   other end.
    mutating func advance(by count: Int) -> Bool {
        sentCount += count
        if sentCount < byteCount { return false }
        descriptor = nil
        if !isIdempotent || isSettled { payload = nil }
        return true
    }

    /// Makes it ready for another connection.
    mutating func prepareRepetition() {
        sentCount = 0
        lossCount += 1
    }
}

extension Method {
    /// What to do with what is too large for one frame.
    fileprivate var adviceOnSize: String? {
        switch self {
        case .fileWrite: "write them in pieces"
        case .itemPut: "send them in pieces, as a stream"
        case .keychainSign: "sign a hash of them"
        default: nil
        }
    }
}

/// What the daemon answered.
package final class Answer {
    /// The result, as it came.
    package let json: JSONValue
    /// The connection on which it came.
    package let epoch: Int
    private var payload: SecretBytes?

    init(_ json: JSONValue, _ payload: consuming SecretBytes?, on epoch: Int) {
        self.json = json
        self.epoch = epoch
        self.payload = payload
    }

    /// Takes out the bytes that came with it.
    package func takePayload() -> SecretBytes? { payload.take() }
}

/// What the daemon has of a connection's requests and has not answered.
struct Load {
    private var count = 0
    private var byteCount = 0
    private var storing = 0
    private var fetching = 0

    /// What orders to cancel may need.
    private static let reservedBytes = 64 << 10

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
        return byteCount + call.byteCount <= Limits.requestBytes - Self.reservedBytes
    }
}
