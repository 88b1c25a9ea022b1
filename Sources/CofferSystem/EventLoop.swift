internal import CCofferShims
internal import Glibc
internal import Synchronization

/// One thread on epoll, and the executor of every actor that lives on it.
///
/// A turn is: run what was enqueued, call ``atEndOfTurn``, wait, hand out the events. Handlers enter their actor through
/// `assumeIsolated`, which costs nanoseconds; so a small request never changes threads.
@safe
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    // Sendable: what is not behind the mutex or atomic is touched on the loop's own thread only, which each method checks.

    /// What a descriptor is watched for.
    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        /// There is something to read, or the peer is gone.
        package static let readable = Interest(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue)
        /// There is room to write.
        package static let writable = Interest(rawValue: EPOLLOUT.rawValue)
        /// Both directions have ended, or failed: told in every case, whatever was asked for.
        package static let hungUp = Interest(rawValue: EPOLLHUP.rawValue | EPOLLERR.rawValue)
    }

    /// Names a descriptor that is watched.
    package struct Watch: Hashable, Sendable {
        fileprivate let slot: Int
        fileprivate let generation: UInt32
    }

    private struct Slot {
        var generation: UInt32 = 0
        var descriptor: Int32 = -1
        var handler: (@Sendable (Interest) -> Void)?
    }

    private let epoll: OwnedDescriptor
    private let wake: OwnedDescriptor
    private let jobs = Mutex<[UnownedJob]>([])
    private let posted = Mutex<[@Sendable () -> Void]>([])
    private let thread: Atomic<UInt>
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var isStopping = false
    /// How many turns there were.
    package private(set) var turn: UInt64 = 0
    private var endOfTurn: (@Sendable () -> Void)?

    /// Makes a loop that belongs to the calling thread until another one runs it.
    package init() throws(SystemError) {
        epoll = OwnedDescriptor(owning: try retrying("epoll_create") { coffer_epoll_create() })
        wake = OwnedDescriptor(owning: try retrying("eventfd") { coffer_eventfd() })
        thread = Atomic(UInt(pthread_self()))
        _ = try watch(wake, for: .readable) { [wake = wake.number] _ in
            var count: UInt64 = 0
            _ = unsafe read(wake, &count, 8)
        }
    }

    /// Makes a loop that runs on a thread of its own.
    ///
    /// - Throws: ``SystemError`` where no descriptor or no thread can be had.
    package static func onOwnThread() throws(SystemError) -> EventLoop {
        let loop = try EventLoop()
        guard let thread = NativeThread.start({ loop.run() }) else {
            throw SystemError("pthread_create", code: EAGAIN)
        }
        pthread_detach(thread)
        return loop
    }

    /// Runs on the calling thread until ``stop()``.
    package func run() {
        thread.store(UInt(pthread_self()), ordering: .releasing)
        var events = unsafe [epoll_event](repeating: epoll_event(), count: 128)
        while true {
            turn += 1
            runJobs()
            endOfTurn?()
            if isStopping { return }
            // Asked last: the end of a turn may have given more to do.
            let count = unsafe epoll_wait(epoll.number, &events, Int32(events.count), hasJobs ? 0 : -1)
            for index in 0..<Int(max(count, 0)) {
                deliver(unsafe events[index].data.u64, unsafe events[index].events)
            }
        }
    }

    /// Ends ``run()`` after the present turn.
    package func stop() {
        checkIsolated()
        isStopping = true
    }

    /// Sets what is called at the end of each turn, before the loop waits: the place to commit and to send.
    ///
    /// - Parameter handler: Runs on the loop's thread.
    package func atEndOfTurn(_ handler: @escaping @Sendable () -> Void) {
        checkIsolated()
        endOfTurn = handler
    }

    /// Watches a descriptor, which has to stay open until ``unwatch(_:)``.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor.
    ///   - interest: What for.
    ///   - handler: Runs on the loop's thread with what is ready. A peer that is gone makes both ready.
    package func watch(
        _ descriptor: borrowing OwnedDescriptor,
        for interest: Interest,
        handler: @escaping @Sendable (Interest) -> Void
    ) throws(SystemError) -> Watch {
        checkIsolated()
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
        slots[slot].handler = handler
        return watch
    }

    /// Changes what a descriptor is watched for.
    ///
    /// - Parameters:
    ///   - watch: The descriptor's watch.
    ///   - interest: What for; nothing, too.
    package func change(_ watch: Watch, to interest: Interest) throws(SystemError) {
        checkIsolated()
        guard slots[watch.slot].generation == watch.generation else { return }
        try control(EPOLL_CTL_MOD, slots[watch.slot].descriptor, interest, watch)
    }

    /// Stops watching.
    ///
    /// Events that are already under way are dropped.
    ///
    /// - Parameter watch: The descriptor's watch.
    package func unwatch(_ watch: Watch) {
        checkIsolated()
        guard slots[watch.slot].generation == watch.generation else { return }
        try? control(EPOLL_CTL_DEL, slots[watch.slot].descriptor, [], watch)
        slots[watch.slot].generation &+= 1
        slots[watch.slot].descriptor = -1
        slots[watch.slot].handler = nil
        freeSlots.append(watch.slot)
    }

    /// Has something done on the loop's thread, in a later turn.
    ///
    /// - Parameter body: What; may be given from any thread.
    package func post(_ body: @escaping @Sendable () -> Void) {
        posted.withLock { $0.append(body) }
        signal()
    }

    /// Wakes the loop, if it may be waiting.
    private func signal() {
        var one: UInt64 = 1
        _ = unsafe write(wake.number, &one, 8)
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

    private func deliver(_ token: UInt64, _ events: UInt32) {
        let slot = slots[Int(token & 0xffff_ffff)]
        guard slot.generation == UInt32(token >> 32), let handler = slot.handler else { return }
        let isGone = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        handler(isGone ? [.readable, .writable, .hungUp] : Interest(rawValue: events))
    }

    private var hasJobs: Bool { jobs.withLock { !$0.isEmpty } }

    private func runJobs() {
        let ready = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in ready { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
        let bodies = posted.withLock { posted in
            defer { posted = [] }
            return posted
        }
        for body in bodies { body() }
    }

    // MARK: SerialExecutor

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        if !isOnLoopThread { signal() }
    }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoopThread }

    package func checkIsolated() { precondition(isOnLoopThread, "called off the event loop's thread") }

    private var isOnLoopThread: Bool { thread.load(ordering: .acquiring) == UInt(pthread_self()) }
}
