import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferWire
import Testing

/// A machine without a daemon: the output is recorded, and the test supplies the input and the time.
final class MachineDriver {
    var machine: ClientMachine
    private(set) var now = ContinuousClock.now
    /// The bytes that were sent on this connection.
    private(set) var sent: [UInt8] = []
    /// The descriptors that were passed.
    private(set) var descriptors: [Int32] = []
    private var frames = FrameDecoder()
    private var place = 0

    init(
        _ policy: ReconnectPolicy = .never,
        tellsUnknownOutcomes: Bool = true,
        isConnected: Bool = true,
        timeout: Duration? = nil
    ) {
        machine = ClientMachine(policy: policy, tellsUnknownOutcomes: tellsUnknownOutcomes, timeout: timeout)
        if isConnected { connect() }
    }

    func connect() {
        machine.connected(at: now)
        sent = []
        frames = FrameDecoder()
        place = 0
    }

    var isConnected: Bool { machine.isConnected }
    var hasOutput: Bool { machine.hasOutput }
    var wantsConnection: Bool { machine.wantsConnection(at: now) }
    /// The time until the next deadline of the machine.
    var delay: Duration? { machine.deadline.map { $0 - now } }

    func submit(_ call: Call) { machine.submit(call, at: now) }

    /// Submits a read or a change.
    func submit(_ number: Int64, changes: Bool = false, epoch: Int? = nil) throws {
        machine.submit(
            changes
                ? try Call(number, ItemRemoveParameters(name: try ItemName("a")), epoch: epoch)
                : try Call(number, VaultStatusParameters(), epoch: epoch),
            at: now
        )
    }

    /// Sends the output, up to the size of the socket's buffer.
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

    /// The complete requests since the last call.
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

    /// The effects since the last call, as text.
    func effects() -> [String] {
        machine.takeEffects().map { effect in
            switch effect {
            case .answered(let number, .success(let answer)): "\(number) answered, \(answer.payload.count)"
            case .answered(let number, .failure(let error)): "\(number) refused, \(error.code.rawValue)"
            case .failed(let number, let error): "\(number) failed, \(error.code.rawValue)"
            case .progress(let number, let progress): "\(number) at \(progress.done)"
            case .event(let event): "event \(event.notification.rawValue)"
            case .lost(let reason): "lost, \(reason?.code.rawValue ?? "closed")"
            }
        }
    }
}
