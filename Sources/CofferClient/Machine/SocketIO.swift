internal import CofferCore
internal import CofferMemory
internal import CofferSystem

extension ClientMachine.Output {
    /// Sends once, as much as the socket takes.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - payload: The payload of the frame.
    /// - Returns: The bytes sent; `nil` where there is no room on a non-blocking socket.
    func send(on socket: borrowing OwnedDescriptor, _ payload: borrowing SecretBytes?) throws(SystemError) -> Int? {
        let first = unsafe head.span.bytes.extracting(droppingFirst: min(sentCount, head.count))
        switch payload {
        case .none: return try socket.send(first, passing: descriptor)
        case .some(let payload):
            let skipped = max(0, sentCount - head.count)
            return try payload.withBytes { (bytes) throws(SystemError) in
                try socket.send(first, bytes.extracting(droppingFirst: skipped), passing: descriptor)
            }
        }
    }
}

/// Locked memory that bytes arrive in, wiped as soon as they are decoded.
struct ReceiveBuffer: ~Copyable {
    private var memory: SecretBytes
    /// What has arrived and was not decoded yet.
    private var pending = 0..<0

    /// - Throws: `internal` where memory for secrets can't be locked.
    init() throws(CofferError) {
        do { memory = try SecretBytes(zeros: 64 << 10) } catch { throw .noSecretMemory }
    }

    /// Whether there is more to decode.
    var hasPending: Bool { !pending.isEmpty }

    /// Decodes the next frame, and reads once where there is nothing to decode.
    ///
    /// - Returns: Whether something has come, or the end, of which the machine is told.
    mutating func receive(
        from socket: borrowing OwnedDescriptor,
        into machine: inout ClientMachine,
        at now: ClientMachine.Instant
    ) -> Bool {
        do throws(SystemError) {
            if pending.isEmpty { pending = 0..<(try read(from: socket)) }
            if pending.isEmpty { machine.disconnected(.connectionBroken("it closed the connection"), at: now) }
        } catch {
            if error.wouldBlock { return false }
            machine.disconnected(.connectionBroken(error.reason), at: now)
        }
        decode(into: &machine, at: now)
        return true
    }

    private mutating func read(from socket: borrowing OwnedDescriptor) throws(SystemError) -> Int {
        let arrival = unsafe memory.withUnsafeMutableBytes { memory in
            Result { () throws(SystemError) in unsafe try socket.read(into: memory) }
        }
        return try arrival.get()
    }

    private mutating func decode(into machine: inout ClientMachine, at now: ClientMachine.Instant) {
        let end = pending.upperBound
        var offset = pending.lowerBound
        memory.withBytes { machine.receive($0.extracting(first: end), from: &offset, at: now) }
        pending = offset..<end
        if pending.isEmpty || !machine.isConnected { clear() }
    }

    private mutating func clear() {
        memory.wipe(first: pending.upperBound)
        pending = 0..<0
    }
}
