import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferWire
import Testing

/// A machine with a daemon that is a table: what goes out is kept, what comes in is given, and time passes when a test says.
final class MachineDriver {
    var machine: ClientMachine
    private(set) var now = ContinuousClock.now
    /// What has gone out on this connection.
    private(set) var sent: [UInt8] = []
    /// The descriptors that went with it.
    private(set) var descriptors: [Int32] = []
    private var frames = FrameDecoder()
    private var place = 0

    init(_ policy: ReconnectPolicy = .never, tellsUnknownOutcomes: Bool = true, isConnected: Bool = true) {
        machine = ClientMachine(policy: policy, tellsUnknownOutcomes: tellsUnknownOutcomes)
        if isConnected { connect() }
    }

    func connect() {
        machine.connected()
        sent = []
        frames = FrameDecoder()
        place = 0
    }

    var isConnected: Bool { machine.isConnected }
    var hasOutput: Bool { machine.hasOutput }
    var wantsConnection: Bool { machine.wantsConnection(at: now) }
    /// How long until the machine has something to say.
    var delay: Duration? { machine.deadline.map { $0 - now } }

    func submit(_ call: Call) { machine.submit(call) }

    /// Asks, or changes something.
    func submit(_ number: Int64, changes: Bool = false, epoch: Int? = nil) throws {
        machine.submit(
            changes
                ? try Call(number, ItemRemoveParameters(name: try ItemName("a")), epoch: epoch)
                : try Call(number, VaultStatusParameters(), epoch: epoch)
        )
    }

    /// Sends what there is to send, as far as the socket takes it.
    func flush(_ limit: Int = .max) {
        var left = limit
        while left > 0, let output = machine.output() {
            let bytes = output.head + (output.payload?.exposeBytes() ?? [])
            let piece = bytes.dropFirst(output.sentCount).prefix(left)
            if let descriptor = output.descriptor { descriptors.append(descriptor) }
            sent += piece
            left -= piece.count
            machine.didSend(piece.count)
        }
    }

    /// The requests that went out whole since this was asked last.
    func requests() throws -> [Request] {
        let bytes = sent
        var requests: [Request] = []
        while let frame = try frames.decode(bytes.span.bytes, at: &place) {
            requests.append(try Request(frame.json.get()))
        }
        return requests
    }

    func hear(_ bytes: [UInt8]) {
        var offset = 0
        while offset < bytes.count { machine.receive(bytes.span.bytes, from: &offset, at: now) }
    }
    func cancel(_ number: Int64) { machine.cancel(number, at: now) }
    func close() { machine.close(at: now) }
    func couldNotConnect() { machine.couldNotConnect(CofferError(.notAvailable, "none"), at: now) }
    func breakOff() { machine.disconnected(CofferError(.notAvailable, "broken"), at: now) }

    func pass(_ time: Duration) {
        now += time
        machine.advance(to: now)
    }

    /// What has happened since this was asked last, in words.
    func effects() -> [String] {
        machine.takeEffects().map { effect in
            switch effect {
            case .answered(let number, .success(let answer)): "\(number) answered, \(answer.takePayload().byteCount)"
            case .answered(let number, .failure(let error)): "\(number) refused, \(error.code.rawValue)"
            case .failed(let number, let error): "\(number) failed, \(error.code.rawValue)"
            case .progress(let number, let progress): "\(number) at \(progress.done)"
            case .event(let event): "event \(event.notification.rawValue)"
            case .lost(let reason): "lost, \(reason?.code.rawValue ?? "closed")"
            }
        }
    }
}
