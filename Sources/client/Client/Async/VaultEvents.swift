public import CofferCore
internal import CofferSystem
internal import CofferWire
internal import Synchronization

/// The events of a vault from the time of the subscription.
///
/// Events that arrive while no task waits are buffered, up to a bound; further ones are counted and reported
/// as `eventsMissed`. If the connection breaks, the sequence throws: events may have been lost, so read the
/// status and subscribe again. When the client closes, the sequence ends. It can be iterated once, by one
/// task.
public struct VaultEvents: AsyncSequence, AsyncIteratorProtocol, Sendable {
    /// An event.
    public typealias Element = VaultEvent
    /// The error that ends it, unless the client closes.
    public typealias Failure = CofferError

    let subscription: Subscription

    /// The sequence is its own iterator.
    public func makeAsyncIterator() -> VaultEvents { self }

    /// Waits for the next event.
    ///
    /// - Returns: The event; `nil` if the client was closed.
    /// - Throws: `notAvailable` when the connection breaks; `userCanceled`.
    public mutating func next() async throws(CofferError) -> VaultEvent? { try await subscription.queue.next() }
}

/// Ends the subscription when it is dropped.
final class Subscription: Sendable {
    let queue: EventQueue
    private let client: CofferClient

    init(_ queue: EventQueue, of client: CofferClient) {
        self.queue = queue
        self.client = client
    }

    deinit { client.mailbox.post { [queue] in $0.unsubscribe(queue) } }
}

/// The buffered events of one subscriber.
final class EventQueue: Sendable {
    private struct State {
        var events = EventBuffer()
        var end: Result<Void, CofferError>?
    }

    let selection: EventSelection
    private let state = Mutex(State())
    private let alarm = Alarm()

    init(_ selection: EventSelection) { self.selection = selection }

    func append(_ event: VaultEvent) {
        guard selection.isSuperset(of: event.selection) else { return }
        state.withLock { $0.events.append(event) }
        alarm.ring()
    }

    /// Ends the sequence with an error, or without one if the client closed.
    func finish(_ error: CofferError?) {
        state.withLock { state in
            if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
        }
        alarm.ring()
    }

    func next() async throws(CofferError) -> VaultEvent? {
        while true {
            let (event, end) = state.withLock { ($0.events.takeFirst(), $0.end) }
            if let event { return event }
            if let end {
                try end.get()
                return nil
            }
            if Task.isCancelled { throw .cancelled }
            await alarm.wait { [alarm] in alarm.ring() }
        }
    }
}

extension CofferClient {
    /// Subscribes to the events of the vault.
    ///
    /// - Parameter selection: The events in addition to lock and unlock.
    /// - Returns: The events from now on.
    /// - Throws: `notAvailable` if the daemon can't be reached.
    public func events(_ selection: EventSelection = []) async throws(CofferError) -> VaultEvents {
        if Task.isCancelled { throw .cancelled }
        let queue = EventQueue(selection)
        let subscription = Subscription(queue, of: self)
        let pending = PendingCall(takeNumber())
        mailbox.post { $0.subscribe(queue, pending) }
        _ = try Empty(result: try await pending.outcome(through: mailbox).get().json)
        return VaultEvents(subscription: subscription)
    }
}
