internal import CCofferShims
internal import Glibc
internal import Synchronization

/// Delivers messages of other threads to one thread: that of a loop, or one that polls ``wake``.
package final class Mailbox<Message: Sendable>: Sendable {
    private let messages = Mutex<[Message]>([])
    /// Readable while there are messages.
    package let wake: OwnedDescriptor

    package init() throws(SystemError) {
        wake = OwnedDescriptor(owning: try retrying("eventfd") { coffer_eventfd() })
    }

    /// Posts a message.
    ///
    /// Any thread may call it.
    package func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        guard isFirst else { return }
        var one: UInt64 = 1
        _ = unsafe write(wake.number, &one, 8)
    }

    /// Delivers the messages on a loop.
    ///
    /// - Parameters:
    ///   - loop: The loop; the caller must be on its thread.
    ///   - handler: Gets the messages in the order in which they were posted.
    package func deliver(on loop: EventLoop, to handler: @escaping (Message) -> Void) throws(SystemError) {
        _ = try loop.watch(wake, for: .readable) { [self] _ in
            for message in take() { handler(message) }
        }
    }

    /// Takes all messages, in order.
    package func take() -> [Message] {
        var count: UInt64 = 0
        _ = unsafe read(wake.number, &count, 8)
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
