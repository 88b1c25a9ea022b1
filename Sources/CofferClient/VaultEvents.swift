public import CofferCore
internal import CofferSystem
internal import CofferWire

/// The events of a vault, from the moment on that they were asked for.
///
/// What comes while nobody asks is kept, up to a bound; what comes then is counted, and told as `eventsMissed`. When the connection breaks, the sequence
/// ends with the error: what happened meanwhile is not known, so ask for the status, and for the events again. It ends without
/// one when the client closes. It is gone through once, by one task.
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
        public mutating func next() async throws(CofferError) -> VaultEvent? { try await subscription.next() }
    }
}

/// Ends the subscription when nobody holds it any more.
final class Subscription: Sendable {
    private let client: CofferClient
    private let queue: EventQueue

    init(_ queue: EventQueue, of client: CofferClient) {
        self.queue = queue
        self.client = client
    }

    deinit {
        client.loop.post { [client, queue] in client.assumeIsolated { $0.unsubscribe(queue) } }
    }

    func next() async throws(CofferError) -> VaultEvent? { try await client.nextEvent(of: queue) }
}

/// The events that one subscriber has not taken yet.
final class EventQueue: @unchecked Sendable {
    // Sendable: used on the client's actor only.
    let selection: EventSelection
    private var events = EventBuffer()
    private var end: Result<Void, CofferError>?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ selection: EventSelection) { self.selection = selection }

    func append(_ event: VaultEvent) {
        guard selection.isSuperset(of: event.selection) else { return }
        events.append(event)
        wake()
    }

    func finish(_ error: CofferError?) {
        if end == nil { end = error.map { .failure($0) } ?? .success(()) }
        wake()
    }

    func wake() {
        let woken = waiters
        waiters = []
        for waiter in woken { waiter.resume() }
    }

    func next(on client: isolated CofferClient) async throws(CofferError) -> VaultEvent? {
        while true {
            if let event = events.takeFirst() { return event }
            if let end {
                try end.get()
                return nil
            }
            if Task.isCancelled { throw .cancelled }
            // Looked at where nobody comes in between: the call itself may let others go first.
            await withCheckedContinuation(isolation: client) { waiter in
                if events.isEmpty && end == nil && !Task.isCancelled {
                    waiters.append(waiter)
                } else {
                    waiter.resume()
                }
            }
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
        let queue = EventQueue(selection)
        let subscription = Subscription(queue, of: self)
        // Before the daemon is asked: what it sends right behind its answer belongs to it.
        subscribers.append(queue)
        // The last order counts, so each is for what all of them want.
        let wanted = subscribers.reduce(into: EventSelection()) { $0.formUnion($1.selection) }
        let call = try begin(.vaultWatch, VaultWatchParameters(wanted))
        _ = try Empty(result: try await outcome(of: call).get().json)
        return VaultEvents(subscription: subscription)
    }

    func unsubscribe(_ queue: EventQueue) { subscribers.removeAll { $0 === queue } }

    func nextEvent(of queue: EventQueue) async throws(CofferError) -> VaultEvent? {
        try await untilCancelled { (client) throws(CofferError) in
            try await queue.next(on: client)
        } onCancel: {
            queue.wake()
        }
    }

    /// A newer daemon may send news that this build does not know.
    func handleEvent(_ method: String, _ params: JSONObject) {
        guard let event = VaultEvent(notification: method, params) else { return }
        for queue in subscribers { queue.append(event) }
    }

    func endEvents(_ error: CofferError?) {
        let queues = subscribers
        subscribers = []
        for queue in queues { queue.finish(error) }
    }
}
