internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferWire

/// The client's end of a connection: frames out of what arrives, and frames into it, as far as they go.
struct FrameChannel: ~Copyable {
    /// The socket.
    let socket: OwnedDescriptor
    private var decoder = FrameDecoder()
    private var buffer: SecretBytes
    /// What has arrived and was not decoded yet.
    private var pending = 0..<0

    /// What one look at the socket brought.
    enum Arrival {
        case bytes, nothing, end
    }

    /// Takes a socket over.
    ///
    /// - Throws: `internal` where memory for secrets can't be locked.
    init(_ socket: consuming OwnedDescriptor) throws(CofferError) {
        let buffer: SecretBytes
        do { buffer = try SecretBytes(zeros: 64 << 10) } catch { throw .noSecretMemory }
        self.buffer = buffer
        self.socket = socket
    }

    /// Reads once; what has arrived before has to be decoded.
    mutating func receive() throws(SystemError) -> Arrival {
        let arrival = unsafe buffer.withUnsafeMutableBytes { memory in
            Result { () throws(SystemError) in unsafe try socket.read(into: memory) }
        }
        do {
            pending = 0..<(try arrival.get())
            return pending.isEmpty ? .end : .bytes
        } catch  where error.wouldBlock {
            return .nothing
        }
    }

    /// Takes the next frame out of what has arrived: there may be several.
    mutating func nextFrame() throws(CofferError) -> Frame? {
        if pending.isEmpty { return nil }
        let end = pending.upperBound
        var offset = pending.lowerBound
        let frame: Frame?
        do throws(FrameError) {
            frame = try buffer.withBytes { (bytes) throws(FrameError) in
                try decoder.decode(bytes.extracting(first: end), at: &offset)
            }
        } catch .noMemory {
            throw .noSecretMemory
        } catch {
            throw CofferError(.protocolViolation, "the daemon's answer is not a frame: \(error.cofferError.message)")
        }
        pending = offset..<end
        if pending.isEmpty { buffer.wipe(first: end) }
        return frame
    }

    /// Sends once.
    ///
    /// - Parameters:
    ///   - head: The header and the JSON of a frame.
    ///   - payload: Its payload.
    ///   - done: How much of both has been sent.
    ///   - descriptor: The number of a descriptor that goes with the frame's first byte.
    /// - Returns: The bytes sent; `nil` where there is no room on a non-blocking socket.
    borrowing func send(
        _ head: [UInt8],
        _ payload: borrowing SecretBytes?,
        from done: Int,
        passing descriptor: Int32?
    ) throws(SystemError) -> Int? {
        let first = unsafe head.span.bytes.extracting(droppingFirst: min(done, head.count))
        let passed = done == 0 ? descriptor : nil
        switch payload {
        case .none: return try socket.send(first, passing: passed)
        case .some(let payload):
            let skipped = max(0, done - head.count)
            return try payload.withBytes { (bytes) throws(SystemError) in
                try socket.send(first, bytes.extracting(droppingFirst: skipped), passing: passed)
            }
        }
    }
}
