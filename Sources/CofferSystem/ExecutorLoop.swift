internal import CCofferShims
internal import Glibc
internal import Synchronization

/// One thread on epoll, and the executor of every actor that lives on it.
///
/// A turn is: run what was enqueued, call ``atEndOfTurn``, wait, hand out the events. Handlers enter their actor through
/// `assumeIsolated`, which costs nanoseconds; so a small request never changes threads.
@safe
package final class ExecutorLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
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
        /// The queue of events that it is in.
        var epoll: Int32 = -1
        var handler: (@Sendable (Interest) -> Void)?
    }

    private let isPreferred: Bool
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
    private var isGoingOn = false

    /// Makes a loop that belongs to the calling thread until another one runs it.
    ///
    /// - Parameter isPreferred: Whether the tasks of the actors that live on it prefer it. Where what the runtime takes a job
    ///   to run on is not what its task prefers, it lets others go first at each call that is awaited: that costs the task a
    ///   turn of the loop.
    package init(isPreferred: Bool = false) throws(SystemError) {
        self.isPreferred = isPreferred
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
    package static func onOwnThread() throws(SystemError) -> ExecutorLoop {
        let loop = try ExecutorLoop()
        guard let thread = NativeThread.start({ loop.run() }) else {
            throw SystemError("pthread_create", code: EAGAIN)
        }
        pthread_detach(thread)
        return loop
    }

    /// Runs on the calling thread until ``stop()``.
    package func run() {
        thread.store(UInt(pthread_self()), ordering: .releasing)
        while true {
            turn += 1
            runJobs()
            endOfTurn?()
            if isStopping { return }
            // Asked last: the end of a turn may have given more to do.
            let milliseconds: Int32 = isGoingOn || hasJobs ? 0 : -1
            isGoingOn = false
            for event in wait(in: epoll.number, milliseconds: milliseconds) { deliver(event) }
        }
    }

    /// Has the next turn begin without waiting.
    package func goOn() {
        checkIsolated()
        isGoingOn = true
    }

    /// Hands out what has come meanwhile, without waiting: within a turn, for who wants to know whether somebody else waits.
    ///
    /// Events of a ``Crowd`` stay with it.
    package func look() {
        checkIsolated()
        let events = wait(in: epoll.number, milliseconds: 0)
        for event in events { deliver(event) }
        // What the end of a turn settles, it may have settled already.
        if !events.isEmpty { isGoingOn = true }
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
    ///   - crowd: Whom it belongs to, if its events are to wait until they are asked for.
    ///   - handler: Runs on the loop's thread with what is ready. A peer that is gone makes both ready.
    package func watch(
        _ descriptor: borrowing OwnedDescriptor,
        for interest: Interest,
        among crowd: Crowd? = nil,
        handler: @escaping @Sendable (Interest) -> Void
    ) throws(SystemError) -> Watch {
        checkIsolated()
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        let watch = Watch(slot: slot, generation: slots[slot].generation)
        slots[slot].epoll = crowd?.epoll.number ?? epoll.number
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
        let epoll = slots[watch.slot].epoll
        _ = try retrying("epoll_ctl") { unsafe epoll_ctl(epoll, operation, descriptor, &event) }
    }

    /// What has come: whose it is, and what.
    fileprivate struct Event {
        let token: UInt64
        let events: UInt32
    }

    private func wait(in epoll: Int32, milliseconds: Int32) -> [Event] {
        unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.eventsAtOnce) { buffer in
            let count = unsafe epoll_wait(epoll, buffer.baseAddress, Int32(buffer.count), milliseconds)
            return unsafe buffer.prefix(Int(max(count, 0)))
                .map { unsafe Event(token: $0.data.u64, events: $0.events) }
        }
    }

    private static let eventsAtOnce = 128

    private func deliver(_ event: Event) {
        let slot = slots[Int(event.token & 0xffff_ffff)]
        guard slot.generation == UInt32(event.token >> 32), let handler = slot.handler else { return }
        let isGone = event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        handler(isGone ? [.readable, .writable, .hungUp] : Interest(rawValue: event.events))
    }

    // MARK: Crowds

    /// Descriptors whose events wait until they are asked for, one at a time.
    ///
    /// To learn that there are some costs the same however many there are.
    package final class Crowd: @unchecked Sendable {
        // Sendable: touched by the loop only, on its own thread.

        fileprivate let epoll: OwnedDescriptor
        fileprivate var watch: Watch?
        /// What has come and was not handed out, the first one last.
        fileprivate var waiting: [Event] = []
        /// The turn in which it was looked for last.
        fileprivate var turn: UInt64 = 0

        fileprivate init(_ epoll: consuming OwnedDescriptor) { self.epoll = epoll }
    }

    /// Makes a crowd, which has to live until ``unwatch(_:)``.
    ///
    /// - Parameter handler: Runs on the loop's thread, in each turn in which events wait.
    package func makeCrowd(handler: @escaping @Sendable () -> Void) throws(SystemError) -> Crowd {
        let crowd = Crowd(OwnedDescriptor(owning: try retrying("epoll_create") { coffer_epoll_create() }))
        crowd.watch = try watch(crowd.epoll, for: .readable) { _ in handler() }
        return crowd
    }

    /// Whether an event of a crowd waits, of those that have come by the first time that this is asked in a turn.
    package func hasNext(of crowd: Crowd) -> Bool {
        checkIsolated()
        if crowd.waiting.isEmpty && crowd.turn != turn {
            crowd.turn = turn
            crowd.waiting = wait(in: crowd.epoll.number, milliseconds: 0).reversed()
        }
        return !crowd.waiting.isEmpty
    }

    /// Has the events of a crowd that have come since be handed out in this turn as well.
    package func renew(_ crowd: Crowd) { crowd.turn = 0 }

    /// Hands out the next event of a crowd, if one waits.
    package func deliverNext(of crowd: Crowd) {
        if hasNext(of: crowd), let event = crowd.waiting.popLast() { deliver(event) }
    }

    /// Tells of a crowd's events, or does not for a while: nothing of them is lost.
    package func setTelling(_ isTelling: Bool, of crowd: Crowd) {
        if let watch = crowd.watch { try? change(watch, to: isTelling ? .readable : []) }
    }

    /// Stops watching a crowd; its descriptors are to be unwatched before.
    package func unwatch(_ crowd: Crowd) {
        if let watch = crowd.watch { unwatch(watch) }
        crowd.watch = nil
    }

    /// Whether something was enqueued that waits for the next turn.
    package var hasJobs: Bool { jobs.withLock { !$0.isEmpty } || posted.withLock { !$0.isEmpty } }

    private func runJobs() {
        let ready = jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in ready { run(job) }
        let bodies = posted.withLock { posted in
            defer { posted = [] }
            return posted
        }
        for body in bodies { body() }
    }

    private func run(_ job: UnownedJob) {
        let executor = unsafe asUnownedSerialExecutor()
        if isPreferred {
            unsafe job.runSynchronously(isolatedTo: executor, taskExecutor: asUnownedTaskExecutor())
        } else {
            unsafe job.runSynchronously(on: executor)
        }
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
