internal import CofferSystem
internal import Synchronization

/// The messages of the tasks to the client's thread.
final class Mailbox: Sendable {
    /// Runs on the client's thread.
    typealias Message = @Sendable (ClientThread) -> Void

    private struct State {
        var messages: [Message] = []
        var lastNumber: Int64 = 0
    }

    private let state = Mutex(State())
    /// Set while there are messages.
    let signal: WakeSignal

    init() throws(SystemError) { signal = try WakeSignal() }

    /// Adds a message; the messages of one task run in order.
    func post(_ message: @escaping Message) {
        let isFirst = state.withLock { state in
            state.messages.append(message)
            return state.messages.count == 1
        }
        if isFirst { signal.send() }
    }

    /// Takes all messages, in order.
    func take() -> [Message] {
        signal.clear()
        return state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// A number for a new call.
    func takeNumber() -> Int64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }
}
