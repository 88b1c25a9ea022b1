internal import CofferSystem
internal import Synchronization

/// What the tasks that use a client ask of its thread.
final class Mailbox: Sendable {
    /// Runs on the client's thread.
    typealias Message = @Sendable (ClientThread) -> Void

    private struct State {
        var messages: [Message] = []
        var lastNumber: Int64 = 0
    }

    private let state = Mutex(State())
    /// Given while there are messages.
    let signal: WakeSignal

    init() throws(SystemError) { signal = try WakeSignal() }

    /// Asks for something; what one task asks for is done in its order.
    func post(_ message: @escaping Message) {
        let isFirst = state.withLock { state in
            state.messages.append(message)
            return state.messages.count == 1
        }
        if isFirst { signal.send() }
    }

    /// Takes what was asked for, in its order.
    func take() -> [Message] {
        signal.clear()
        return state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// The number of the next call.
    func takeNumber() -> Int64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }
}
