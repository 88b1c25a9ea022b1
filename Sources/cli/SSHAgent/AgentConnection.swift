internal import CofferSecretFormats
internal import CofferCore
internal import CofferMemory
internal import CofferPrompter
internal import CofferSystem

/// One connection: it receives messages, which may have keys, into locked memory, and sends the answers.
final class AgentConnection {
    private let socket: OwnedDescriptor
    private let session: AgentSession
    private var header: [UInt8] = []
    private var message: SecretBytes?
    private var received = 0
    private var output: [UInt8] = []
    /// What a person is asked before the message is answered.
    private var question: AgentQuestion?
    /// When the message is to be answered.
    private(set) var delayEnd: ContinuousClock.Instant?
    /// When its last message was whole; at first, when it began.
    private(set) var lastMessage = ContinuousClock.now
    /// The question to the person, once this connection has its turn.
    private var confirmation: Confirmation?

    init(_ socket: consuming OwnedDescriptor, _ session: AgentSession) {
        self.socket = socket
        self.session = session
    }

    var number: Int32 { socket.number }
    /// While an answer is not sent, no further message is received.
    var isSending: Bool { !output.isEmpty }
    /// Nor while a person is to be asked, or a delay lasts.
    var isReceiving: Bool { !isSending && !isWaiting }
    /// Whether it has nothing to be answered.
    var isSilent: Bool { !isWaiting }
    private var isWaiting: Bool { question != nil || delayEnd != nil }

    /// Sends what is pending, or receives and answers one message.
    ///
    /// - Returns: Whether the connection goes on.
    func advance() -> Bool {
        // The client has not waited for the person, or for the delay.
        if isWaiting { return false }
        do throws(SystemError) {
            if isSending { return try send() }
            guard try receive() else { return false }
            guard header.count == 4, let message = message.take() else { return true }
            guard received == message.count else {
                self.message = consume message
                return true
            }
            lastMessage = .now
            answer(consume message, .received)
            return try send()
        } catch { return false }
    }

    private func answer(_ message: consuming SecretBytes, _ stage: AgentSession.Stage) {
        switch message.withBytes({ session.answer(to: $0, stage) }) {
        case .message(let bytes): reply(bytes)
        case .question(let question):
            self.question = question
            self.message = consume message
        case .delay(let end):
            delayEnd = end
            self.message = consume message
        }
    }

    /// Answers the message whose delay is over, if it is.
    func answerIfDue() {
        guard let end = delayEnd, end <= .now, let message = message.take() else { return }
        delayEnd = nil
        answer(message, .due)
    }

    private func reply(_ answer: [UInt8]) {
        var writer = SSHWriter()
        writer.string(answer)
        (output, header, received, question) = (writer.bytes, [], 0, nil)
        message = nil
    }

    // MARK: Asking

    /// A descriptor that is readable when the person who is asked may have answered; `nil` if none is asked.
    var askingNumber: Int32? { confirmation?.number }

    /// Begins to ask a person, if there is something to ask.
    ///
    /// - Returns: Whether the person is being asked.
    func beginAsking() -> Bool {
        guard let question else { return false }
        do throws(CofferError) {
            confirmation = try Confirmation(question.text)
            return true
        } catch {
            reply(session.refusal(question, error))
            return false
        }
    }

    /// Answers the message if the person has answered.
    func finishAsking() {
        guard let question, let reply = confirmation?.advance(), let message = message.take() else { return }
        (confirmation, self.question) = (nil, nil)
        switch reply {
        case .confirmed: answer(message, .confirmed)
        case .failed(let error): self.reply(session.refusal(question, error))
        case .refused, .secret:
            self.reply(session.refusal(question, CofferError(.userCanceled, "the use was not confirmed")))
        }
    }

    // MARK: The socket

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
        guard (1...Limits.agentMessageBytes).contains(count) else { return false }
        message = try? SecretBytes(zeros: count)
        return message != nil
    }

    /// - Returns: The number of bytes, 0 at the end; `nil` if none are there yet.
    private func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
        unsafe try socket.receive(into: buffer)?.count
    }
}
