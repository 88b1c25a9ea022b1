public import CofferCore
internal import CofferWire
internal import Synchronization

/// The events of a vault, from the moment on that they were asked for.
///
/// What comes while no task waits is kept, up to a bound; what comes then is counted, and told as `eventsMissed`. When the
/// connection breaks, the sequence ends with the error: what happened meanwhile is not known, so ask for the status, and for the
/// events again. It ends without one when the client closes. It is gone through once, by one task.
public struct VaultEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = VaultEvent
    /// What it ends with, where it does not end with its client.
    public typealias Failure = CofferError

    let subscription: Subscription

    /// Begins to go through the events.
    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    /// Goes through the events.
    public struct Iterator: AsyncIteratorProtocol {
        let subscription: Subscription

        /// Waits for the next event.
        ///
        /// - Returns: The event; `nil` where the client was closed.
        /// - Throws: `notAvailable` when the connection breaks; `userCanceled`.
        public mutating func next() async throws(CofferError) -> VaultEvent? { try await subscription.queue.next() }
    }
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

/// The events that one subscriber has not taken yet.
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

    /// Ends the events; with an error, or as the client closed.
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
    /// Asks for the events of the vault.
    ///
    /// - Parameter selection: What else is to be told than locking and unlocking.
    /// - Returns: The events from here on.
    /// - Throws: `notAvailable` where the daemon is gone.
    public func events(_ selection: EventSelection = []) async throws(CofferError) -> VaultEvents {
        if Task.isCancelled { throw .cancelled }
        let queue = EventQueue(selection)
        let subscription = Subscription(queue, of: self)
        let pending = PendingCall(mailbox.takeNumber())
        mailbox.post { $0.subscribe(queue, pending) }
        _ = try Empty(result: try await outcome(of: pending).get().json)
        return VaultEvents(subscription: subscription)
    }
}
