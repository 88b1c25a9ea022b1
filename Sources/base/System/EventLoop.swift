internal import CCofferShims
internal import Glibc

/// An event loop: waits for descriptors with epoll, and calls their handlers, with polling and dispatching apart.
///
/// It belongs to the thread that made it. Other threads report their results with a ``Mailbox``, which is a descriptor
/// too.
@safe
package final class EventLoop {
    /// The events that a descriptor is watched for, or has.
    package struct Interest: OptionSet {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Bytes to read, a connection to accept, or the end of the stream.
        package static let readable = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
        /// Space to write.
        package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
        /// The peer has disconnected, or the descriptor has an error.
        ///
        /// Always reported.
        package static let hungUp = Interest(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)

        // Those of the standard library are generic, and look up metadata at run time.

        package init(arrayLiteral events: Interest...) {
            self.init(rawValue: events.reduce(0) { $0 | $1.rawValue })
        }

        /// Whether there is any event of ``readable``.
        package var isReadable: Bool { rawValue & Self.readable.rawValue != 0 }
    }

    /// A watched descriptor.
    ///
    /// After ``unwatch(_:)`` it stays valid, without effect.
    package struct Watch: Hashable {
        fileprivate let slot: Int
        fileprivate let generation: UInt32
    }

    /// The time at which a handler is called.
    package enum Delivery {
        /// By ``dispatch()`` only: the handler may do anything.
        case dispatched
        /// By ``poll(milliseconds:)``, possibly in the middle of a change: the handler may only record the event.
        case noted
    }

    private struct Slot {
        var generation: UInt32 = 0
        var descriptor: Int32 = -1
        var delivery = Delivery.dispatched
        /// The events to dispatch.
        var ready: Interest = []
        var handler: ((Interest) -> Void)?
    }

    private let epoll: OwnedDescriptor
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// The watches that ``dispatch()`` has to call.
    private var undispatched: [Watch] = []

    /// What the kernel writes its reports to.
    private let reports = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: EventLoop.eventsAtOnce)

    package init() throws(SystemError) { epoll = try OwnedDescriptor("epoll_create", coffer_epoll_create) }

    deinit { unsafe reports.deallocate() }

    /// A descriptor that is readable when a watched one has an event: for a thread that waits for others itself.
    package var number: Int32 { epoll.number }

    // MARK: Watching

    /// Watches a descriptor, level-triggered, until ``unwatch(_:)``.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, which must stay open while it is watched.
    ///   - interest: The events to wait for.
    ///   - delivery: The time at which the handler is called.
    ///   - handler: Gets the events.
    package func watch(
        _ descriptor: borrowing OwnedDescriptor,
        for interest: Interest,
        _ delivery: Delivery = .dispatched,
        handler: @escaping (Interest) -> Void
    ) throws(SystemError) -> Watch {
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        let watch = Watch(slot: slot, generation: slots[slot].generation)
        do {
            try control(EPOLL_CTL_ADD, descriptor.number, interest, watch)
        } catch {
            freeSlots.append(slot)
            throw error
        }
        slots[slot].descriptor = descriptor.number
        slots[slot].delivery = delivery
        slots[slot].handler = handler
        return watch
    }

    /// Changes the events to wait for.
    package func change(_ watch: Watch, to interest: Interest) throws(SystemError) {
        guard slots[watch.slot].generation == watch.generation else { return }
        try control(EPOLL_CTL_MOD, slots[watch.slot].descriptor, interest, watch)
    }

    /// Stops watching; events that were polled already are not delivered.
    package func unwatch(_ watch: Watch) {
        guard slots[watch.slot].generation == watch.generation else { return }
        try? control(EPOLL_CTL_DEL, slots[watch.slot].descriptor, [], watch)
        slots[watch.slot] = Slot(generation: watch.generation &+ 1)
        freeSlots.append(watch.slot)
    }

    private func control(
        _ operation: Int32,
        _ descriptor: Int32,
        _ interest: Interest,
        _ watch: Watch
    ) throws(SystemError) {
        var event = unsafe epoll_event()
        unsafe event.events = interest.rawValue
        unsafe event.data.u64 = UInt64(watch.generation) << 32 | UInt64(watch.slot)
        _ = try retrying("epoll_ctl") { unsafe epoll_ctl(epoll.number, operation, descriptor, &event) }
    }

    // MARK: Polling and dispatching

    private static let eventsAtOnce = 128

    /// Polls the kernel: calls the handlers that only record, and queues the other events for ``dispatch()``.
    ///
    /// - Parameter milliseconds: The timeout; -1 for none.
    package func poll(milliseconds: Int32) {
        // A full buffer may not be everything. The kernel queues reported descriptors behind the others, so further
        // rounds find those.
        var rounds = 1 + slots.count / Self.eventsAtOnce
        var timeout = milliseconds
        while rounds > 0, pollOnce(timeout) == Self.eventsAtOnce {
            rounds -= 1
            timeout = 0
        }
    }

    private func pollOnce(_ milliseconds: Int32) -> Int {
        let count = unsafe epoll_wait(epoll.number, reports.baseAddress, Int32(reports.count), milliseconds)
        for index in 0..<Int(max(count, 0)) { unsafe note(reports[index].data.u64, reports[index].events) }
        return Int(max(count, 0))
    }

    private func note(_ token: UInt64, _ events: UInt32) {
        let watch = Watch(slot: Int(token & 0xffff_ffff), generation: UInt32(token >> 32))
        guard slots[watch.slot].generation == watch.generation else { return }
        let isGone = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        let ready = isGone ? [.readable, .writable, .hungUp] : Interest(rawValue: events)
        switch slots[watch.slot].delivery {
        case .noted: slots[watch.slot].handler?(ready)
        case .dispatched:
            if slots[watch.slot].ready.isEmpty { undispatched.append(watch) }
            slots[watch.slot].ready.formUnion(ready)
        }
    }

    /// Whether ``dispatch()`` has handlers to call.
    package var hasUndispatched: Bool { !undispatched.isEmpty }

    /// Calls the handlers of polled events.
    ///
    /// Must not be called from a handler.
    package func dispatch() {
        let watches = undispatched
        undispatched = []
        for watch in watches where slots[watch.slot].generation == watch.generation {
            let ready = slots[watch.slot].ready
            slots[watch.slot].ready = []
            slots[watch.slot].handler?(ready)
        }
    }
}
