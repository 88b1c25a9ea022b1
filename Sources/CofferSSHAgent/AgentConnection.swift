internal import CofferContents
internal import CofferMemory
internal import CofferSystem

/// One connection: it receives messages, which may have keys, into locked memory, and sends the answers.
final class AgentConnection {
    private let socket: OwnedDescriptor
    private let session: AgentSession
    private var header: [UInt8] = []
    private var message: SecretBytes?
    private var received = 0
    private var output: [UInt8] = []

    init(_ socket: consuming OwnedDescriptor, _ session: AgentSession) {
        self.socket = socket
        self.session = session
    }

    var number: Int32 { socket.number }
    /// While an answer is not sent, no further message is received.
    var isSending: Bool { !output.isEmpty }

    /// Sends what is pending, or receives and answers one message.
    ///
    /// - Returns: Whether the connection goes on.
    func advance() -> Bool {
        do throws(SystemError) {
            if isSending { return try send() }
            guard try receive() else { return false }
            guard header.count == 4, let message = message.take() else { return true }
            guard received == message.count else {
                self.message = consume message
                return true
            }
            let answer = message.withBytes { session.answer(to: $0) }
            var writer = SSHWriter()
            writer.string(answer)
            (output, header, received) = (writer.bytes, [], 0)
            return try send()
        } catch { return false }
    }

    private func send() throws(SystemError) -> Bool {
        while !output.isEmpty {
            let bytes = output
            guard let count = unsafe try socket.send(bytes.span.bytes) else { return true }
            output.removeFirst(count)
        }
        return true
    }

    /// Receives a part of a message: its length first, which is checked before memory is allocated.
    private func receive() throws(SystemError) -> Bool {
        if header.count < 4 {
            var bytes = [UInt8](repeating: 0, count: 4 - header.count)
            let result = unsafe bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(SystemError) in unsafe try receive(into: buffer) }
            }
            guard let count = try result.get() else { return true }
            if count == 0 { return false }
            header += bytes.prefix(count)
            return header.count < 4 || begin(header.reduce(0) { $0 << 8 | Int($1) })
        }
        guard var message = message.take() else { return false }
        let place = received
        let count = unsafe try message.withUnsafeMutableBytes { (buffer) throws(SystemError) in
            unsafe try receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[place...]))
        }
        self.message = consume message
        guard let count else { return true }
        received += count
        return count > 0
    }

    private func begin(_ count: Int) -> Bool {
        guard (1...AgentMessage.limit).contains(count) else { return false }
        message = try? SecretBytes(zeros: count)
        return message != nil
    }

    /// - Returns: The number of bytes, 0 at the end; `nil` if none are there yet.
    private func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
        unsafe try socket.receive(into: buffer)?.count
    }
}
