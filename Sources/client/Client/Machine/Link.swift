internal import CofferCore
internal import CofferMemory
internal import CofferSystem

/// The socket of a connection, and a buffer in locked memory, which is wiped as soon as it is decoded.
struct Link: ~Copyable {
    /// The socket.
    let socket: OwnedDescriptor
    private var memory: SecretBytes
    /// The received bytes that are not decoded.
    private var pending = 0..<0

    /// Connects to a daemon.
    ///
    /// - Throws: `notAvailable` if no daemon listens there.
    init(to socketPath: String) throws(CofferError) {
        let socket: OwnedDescriptor
        do {
            socket = try UnixSocket.connect(to: socketPath, isBlocking: false)
        } catch {
            throw .unreachable(socketPath, error)
        }
        try self.init(socket)
    }

    /// Takes ownership of a connected, non-blocking socket.
    ///
    /// - Throws: `io` if memory for secrets can't be locked.
    init(_ socket: consuming OwnedDescriptor) throws(CofferError) {
        do { memory = try SecretBytes(zeros: 64 << 10) } catch { throw .noSecretMemory }
        self.socket = socket
    }

    // MARK: Sending

    /// Sends the machine's output, or as much as a non-blocking socket accepts.
    mutating func flush(_ machine: inout ClientMachine) {
        do throws(SystemError) {
            while let call = machine.output(), let count = try send(call) { machine.didSend(count) }
        } catch {
            // A daemon that refuses a client sends the reason before it closes.
            while machine.isConnected && socket.hasHungUp && receive(into: &machine) {}
            if machine.isConnected { machine.disconnected(.connectionBroken(error.reason), at: .now) }
        }
    }

    /// Sends once.
    ///
    /// - Returns: The number of bytes sent; `nil` if a non-blocking socket is full.
    private func send(_ call: Call) throws(SystemError) -> Int? {
        let head = unsafe call.head.span.bytes.extracting(droppingFirst: min(call.sentCount, call.head.count))
        guard let payload = call.payload else { return try socket.send(head, passing: call.descriptor) }
        let skipped = max(0, call.sentCount - call.head.count)
        return try payload.withBytes { (bytes) throws(SystemError) in
            try socket.send(head, bytes.extracting(droppingFirst: skipped), passing: call.descriptor)
        }
    }

    // MARK: Receiving

    /// Whether there are received bytes to decode.
    var hasPending: Bool { !pending.isEmpty }

    /// Decodes the next frame, after one read if the buffer is empty.
    ///
    /// - Returns: Whether a frame was decoded or the connection ended, which is reported to the machine.
    mutating func receive(into machine: inout ClientMachine) -> Bool {
        do throws(SystemError) {
            if pending.isEmpty { pending = 0..<(try Self.read(from: socket, into: &memory)) }
            if pending.isEmpty { machine.disconnected(.connectionBroken("it closed the connection"), at: .now) }
        } catch {
            if error.wouldBlock { return false }
            machine.disconnected(.connectionBroken(error.reason), at: .now)
        }
        decode(into: &machine)
        return true
    }

    private static func read(
        from socket: borrowing OwnedDescriptor,
        into memory: inout SecretBytes
    ) throws(SystemError) -> Int {
        let arrival = unsafe memory.withUnsafeMutableBytes { memory in
            Result { () throws(SystemError) in unsafe try socket.read(into: memory) }
        }
        return try arrival.get()
    }

    private mutating func decode(into machine: inout ClientMachine) {
        let end = pending.upperBound
        var offset = pending.lowerBound
        memory.withBytes { machine.receive($0.extracting(first: end), from: &offset, at: .now) }
        pending = offset..<end
        if pending.isEmpty || !machine.isConnected { clear() }
    }

    private mutating func clear() {
        memory.wipe(first: pending.upperBound)
        pending = 0..<0
    }
}
