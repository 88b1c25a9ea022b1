import CofferClient
import CofferCore
import CofferMemory
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Whether a condition becomes true within a minute; an error counts as false.
func becomesTrue(_ condition: () throws -> Bool) -> Bool {
    for _ in 0..<6000 {
        if (try? condition()) == true { return true }
        usleep(10_000)
    }
    return false
}

/// A server with the clock of the test.
struct TimedServer {
    let clock: ManualClock
    let server: TestServer
    let client: BlockingClient

    /// Makes an unlocked vault.
    init(
        _ policy: LockSchedule.Policy = LockSchedule.Policy(),
        passcode: String? = DaemonProcess.passcode,
        locksOnLastDisconnect: Bool = false
    ) throws {
        let clock = ManualClock()
        self.clock = clock
        server = try TestServer(clock: clock.clock) { configuration in
            configuration.locking.times = policy
            configuration.locking.isOnLastDisconnect = locksOnLastDisconnect
        }
        client = try server.connect()
        try client.makeVault(passcode: passcode)
    }

    /// The state, as a client reads it.
    func state() throws -> VaultState { try client.status().state }

    /// A connection whose answers need not be read at once.
    func connectRaw() throws -> RawConnection { try RawConnection(server) }
}

/// A connection that sends without waiting for answers.
struct RawConnection: ~Copyable {
    let socket: OwnedDescriptor
    private var decoder = FrameDecoder()
    private var waiting: [(message: Incoming, payload: [UInt8])] = []
    /// The payload of the last received message.
    private(set) var payload: [UInt8] = []
    private var nextID: Int64 = 1
    private var methods: [RequestID: CofferWire.Method] = [:]

    init(_ server: TestServer) throws {
        socket = try UnixSocket.connect(to: server.directory.appending("socket"))
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Sends a request.
    mutating func send(
        _ method: CofferWire.Method,
        _ params: JSONObject = [:],
        payload: [UInt8] = [],
        passing number: Int32? = nil
    ) throws {
        let bytes = frame(method, params, payload: payload)
        var done = 0
        while done < bytes.count {
            let rest = bytes.span.bytes.extracting(droppingFirst: done)
            done += try socket.send(rest, passing: done == 0 ? number : nil) ?? 0
        }
    }

    /// The frame of the next request.
    mutating func frame(_ method: CofferWire.Method, _ params: JSONObject, payload: [UInt8] = []) -> [UInt8] {
        let json = Request(id: .integer(nextID), method: method.rawValue, params: params).serialized()
        methods[.integer(nextID)] = method
        nextID += 1
        return FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json + payload
    }

    /// Sends bytes as they are.
    func write(_ bytes: some Collection<UInt8>) throws {
        let bytes = Array(bytes)
        var done = 0
        while done < bytes.count { done += try socket.send(bytes.span.bytes.extracting(droppingFirst: done)) ?? 0 }
    }

    /// Whether the server has received everything within some seconds.
    var isTaken: Bool {
        let number = socket.number
        return becomesTrue {
            var count: Int32 = -1
            // The bytes that the peer has not received.
            return ioctl(number, UInt(TIOCOUTQ), &count) == 0 && count == 0
        }
    }

    /// Receives the next message; `nil` if the server has closed the connection.
    mutating func next() throws -> Incoming? {
        var piece = [UInt8](repeating: 0, count: 65_536)
        while waiting.isEmpty {
            let count = read(socket.number, &piece, piece.count)
            if count <= 0 { return nil }
            var offset = 0
            while let frame = try decoder.decode(piece.span.bytes.extracting(first: count), at: &offset) {
                let message = try Incoming(try frame.json.get())
                switch frame.takePayload() {
                case .none: waiting.append((message, []))
                case .some(let bytes): waiting.append((message, bytes.exposeBytes()))
                }
            }
        }
        let message: Incoming
        (message, payload) = waiting.removeFirst()
        try check(message)
        return message
    }

    /// Checks a message against the document of the protocol.
    private func check(_ message: Incoming) throws {
        switch message {
        case .notification(let name, let params): try AnswerCheck.checkNews(name, params)
        case .response(let id, let outcome):
            if let id, let method = methods[id] { try AnswerCheck.check(outcome, to: method) }
        }
    }

    /// Receives the answer to a request; `nil` if it succeeded.
    mutating func refusal() throws -> ErrorCode? {
        while let message = try next() {
            guard case .response(_, let outcome) = message else { continue }
            switch outcome {
            case .success: return nil
            case .failure(let error): return error.code
            }
        }
        throw POSIXError(.ECONNRESET)
    }

    /// The notifications before the answer to a new request.
    mutating func newsUntilAnswer(to method: CofferWire.Method = .hello, _ params: JSONObject? = nil) throws -> [String]
    {
        try send(method, params ?? ["protocol": 1])
        var news: [String] = []
        while let message = try next() {
            switch message {
            case .notification(let method, _): news.append(method)
            case .response: return news
            }
        }
        throw POSIXError(.ECONNRESET)
    }

    /// The events before the answer to a new request.
    mutating func eventsUntilAnswer() throws -> [VaultEvent] {
        try send(.hello, ["protocol": 1])
        let last = RequestID.integer(nextID - 1)
        var events: [VaultEvent] = []
        while let message = try next() {
            switch message {
            case .notification(let method, let params):
                if let event = VaultEvent(notification: method, params) { events.append(event) }
            case .response(let id, _): if id == last { return events }
            }
        }
        throw POSIXError(.ECONNRESET)
    }

    /// Receives the next answer: the number of its request, and the refusal.
    mutating func answer() throws -> (id: Int64, refusal: ErrorCode?) {
        while let message = try next() {
            guard case .response(.integer(let id)?, let outcome) = message else { continue }
            switch outcome {
            case .success: return (id, nil)
            case .failure(let error): return (id, error.code)
            }
        }
        throw POSIXError(.ECONNRESET)
    }

    /// Whether the server has closed the connection.
    var isCutOff: Bool {
        var poller = pollfd(fd: socket.number, events: 0, revents: 0)
        return poll(&poller, 1, 10) == 1 && poller.revents & Int16(POLLHUP) != 0
    }
}

/// The pipe of a transfer.
final class TransferPipe {
    private(set) var numbers: [Int32] = [-1, -1]

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        let code = pipe(&numbers)
        try #require(code == 0)
        for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    }

    var reading: Int32 { numbers[0] }
    var writing: Int32 { numbers[1] }

    func closeReading() { closeEnd(0) }
    func closeWriting() { closeEnd(1) }

    private func closeEnd(_ index: Int) {
        if numbers[index] >= 0 { close(numbers[index]) }
        numbers[index] = -1
    }

    /// Waits for the first byte.
    func readByte() -> [UInt8] { read(1) }

    /// Reads to the end.
    func drain() -> [UInt8] { read(.max) }

    /// Reads up to a number of bytes, or to the end.
    func read(_ limit: Int) -> [UInt8] {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while all.count < limit {
            let count = Foundation.read(reading, &piece, min(piece.count, limit - all.count))
            if count <= 0 { break }
            all += piece.prefix(count)
        }
        return all
    }

    /// Writes everything, unless the pipe is closed.
    func write(_ bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(writing, $0.baseAddress, $0.count) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    deinit {
        closeReading()
        closeWriting()
    }
}
