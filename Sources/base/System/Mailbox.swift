internal import Synchronization

/// Delivers messages of other threads to one thread: that of a loop, or one that polls ``wake``.
package final class Mailbox<Message: Sendable>: Sendable {
    private let messages = Mutex<[Message]>([])
    /// Set while there are messages.
    package let wake: WakeSignal

    package init() throws(SystemError) { wake = try WakeSignal() }

    /// Posts a message.
    ///
    /// Any thread may call it.
    package func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if isFirst { wake.send() }
    }

    /// Delivers the messages on a loop.
    ///
    /// - Parameters:
    ///   - loop: The loop; the caller must be on its thread.
    ///   - handler: Gets the messages in the order in which they were posted.
    package func deliver(on loop: EventLoop, to handler: @escaping (Message) -> Void) throws(SystemError) {
        _ = try loop.watch(wake.descriptor, for: .readable) { [self] _ in
            for message in take() { handler(message) }
        }
    }

    /// Takes all messages, in order.
    package func take() -> [Message] {
        wake.clear()
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
