internal import CCofferShims
internal import Glibc

/// Waits for descriptors on the thread that made it, and calls who watches them: epoll, with polling and dispatching apart.
///
/// A plain class for one thread. What other threads have done comes back by ``Completions``, which is a descriptor like others.
@safe
package final class EventLoop {
    /// What a descriptor is watched for, and what it is ready for.
    package struct Interest: OptionSet {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// There are bytes to read, a connection to accept, or the end.
        package static let readable = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
        /// There is room to write.
        package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
        /// The other side is gone, or the descriptor is in error.
        ///
        /// Always reported.
        package static let hungUp = Interest(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
    }

    /// A watched descriptor.
    ///
    /// Stays valid, and without effect, after ``unwatch(_:)``.
    package struct Watch: Hashable {
        fileprivate let slot: Int
        fileprivate let generation: UInt32
    }

    /// When the handler of a watch is called.
    package enum Delivery {
        /// By ``dispatch()`` only: it may do anything.
        case dispatched
        /// By ``poll(milliseconds:)``, which may come in the middle of a change: it takes a note and does nothing else.
        case noted
    }

    private struct Slot {
        var generation: UInt32 = 0
        var descriptor: Int32 = -1
        var delivery = Delivery.dispatched
        /// What is to be dispatched.
        var ready: Interest = []
        var handler: ((Interest) -> Void)?
    }

    private let epoll: OwnedDescriptor
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// The watches that ``dispatch()`` calls next.
    private var undispatched: [Watch] = []

    package init() throws(SystemError) {
        epoll = OwnedDescriptor(owning: try retrying("epoll_create") { coffer_epoll_create() })
    }

    // MARK: Watching

    /// Watches a descriptor, level-triggered, until ``unwatch(_:)``.
    ///
    /// - Parameters:
    ///   - descriptor: Stays open while it is watched.
    ///   - interest: What is waited for.
    ///   - delivery: When the handler is called.
    ///   - handler: Gets what the descriptor is ready for.
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

    /// Waits for something else from now on.
    package func change(_ watch: Watch, to interest: Interest) throws(SystemError) {
        guard slots[watch.slot].generation == watch.generation else { return }
        try control(EPOLL_CTL_MOD, slots[watch.slot].descriptor, interest, watch)
    }

    /// Calls the handler no more, also for what was polled already.
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

    /// Asks the kernel what is ready: takes notes, and keeps the rest for ``dispatch()``.
    ///
    /// - Parameter milliseconds: How long to wait where nothing is ready; -1 without end.
    package func poll(milliseconds: Int32) {
        // A full answer may be a part of one. The kernel puts what it has reported behind the rest.
        var rounds = 1 + slots.count / Self.eventsAtOnce
        var timeout = milliseconds
        while rounds > 0, pollOnce(timeout) == Self.eventsAtOnce {
            rounds -= 1
            timeout = 0
        }
    }

    private func pollOnce(_ milliseconds: Int32) -> Int {
        unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventsAtOnce) { buffer in
            let count = unsafe epoll_wait(epoll.number, buffer.baseAddress, Int32(buffer.count), milliseconds)
            for index in 0..<Int(max(count, 0)) { unsafe note(buffer[index].data.u64, buffer[index].events) }
            return Int(max(count, 0))
        }
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

    /// Whether ``dispatch()`` has something to do.
    package var hasUndispatched: Bool { !undispatched.isEmpty }

    /// Calls the handlers of what was polled.
    ///
    /// Never from within one of them.
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
