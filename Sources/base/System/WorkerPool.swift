internal import CofferCore
internal import Glibc
internal import Synchronization

/// Threads for work that must not block the event loop: key derivation and the contents of files.
///
/// A thread is started for work, and ends soon after the last: an idle daemon has no threads, and successive requests
/// share one. No party gets all threads, and waiting work is done in round robin.
package final class WorkerPool: Sendable {
    private struct Piece: Sendable {
        let work: @Sendable () -> Void
        let party: Int
    }

    /// The number of busy threads, in all and by party.
    private struct Load {
        var busy = 0
        var held: [Int: Int] = [:]

        mutating func add(_ piece: Piece) {
            busy += 1
            held[piece.party, default: 0] += 1
        }

        mutating func remove(_ piece: Piece) {
            busy -= 1
            let rest = held[piece.party, default: 1] - 1
            held[piece.party] = rest > 0 ? rest : nil
        }

        func hasRoom(for party: Int, of limit: Int) -> Bool {
            if party == 0 { return busy < limit }
            return FairShare.left(holding: held[party] ?? 0, used: busy, of: limit) > 0
        }
    }

    private struct State {
        /// All threads, including idle ones.
        var running = 0
        /// Idle threads that were not woken yet.
        var idle = 0
        /// The work for threads that were woken.
        var granted: [Piece] = []
        var load = Load()
        var waiting = FairQueue()
        /// The work that waits, by its number in the queue.
        var pieces: [Int: Piece] = [:]
        private var nextNumber = 0

        mutating func append(_ piece: Piece) {
            pieces[nextNumber] = piece
            waiting.append(nextNumber, for: piece.party)
            nextNumber += 1
        }
    }

    private let limit: Int
    private let lingering: Int
    private let wakings = CountingSemaphore(0)
    private let state = Mutex(State())

    /// Makes a pool without threads.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of threads; further work waits.
    ///   - lingering: The milliseconds that an idle thread waits for work.
    package init(limit: Int = Limits.workerThreads, lingering: Int = 100) {
        self.limit = limit
        self.lingering = lingering
    }

    /// Runs an item on a thread of the pool.
    ///
    /// - Parameters:
    ///   - item: The item. If no thread can be created, it fails with `io`.
    ///   - party: The party for the fair share of threads; 0 may use all of them.
    ///   - end: Called when the item has a result, usually on that thread.
    package func submit(_ item: any WorkItem, for party: Int = 0, then end: @escaping @Sendable () -> Void) {
        let piece = Piece(
            work: {
                item.run()
                end()
            },
            party: party
        )
        if submit(piece) { return }
        item.fail(CofferError(.io, "no thread can be started", hint: "raise the limit on tasks"))
        end()
    }

    /// Runs work without a result.
    ///
    /// - Returns: Whether it will be done: not if no thread can be created.
    @discardableResult
    package func start(for party: Int = 0, _ work: @escaping @Sendable () -> Void) -> Bool {
        submit(Piece(work: work, party: party))
    }

    /// - Returns: Whether the work will be done.
    private func submit(_ piece: Piece) -> Bool {
        let mayStart = state.withLock { state in
            if state.load.hasRoom(for: piece.party, of: limit) { return begin(piece, &state) }
            state.append(piece)
            return false
        }
        if !mayStart || startThread(with: piece) { return true }
        state.withLock { $0.load.remove(piece) }
        return false
    }

    /// - Returns: Whether a thread must be started, because none is idle.
    private func begin(_ piece: Piece, _ state: inout State) -> Bool {
        state.load.add(piece)
        guard state.idle > 0 else {
            state.running += 1
            return true
        }
        state.idle -= 1
        state.granted.append(piece)
        wakings.signal()
        return false
    }

    private func startThread(with piece: Piece) -> Bool {
        guard let thread = NativeThread.start({ self.drain(startingWith: piece) }) else {
            state.withLock { $0.running -= 1 }
            return false
        }
        pthread_detach(thread)
        return true
    }

    private func drain(startingWith first: Piece) {
        var piece = first
        while true {
            piece.work()
            guard let next = takeWaiting(after: piece) ?? linger() else { return }
            piece = next
        }
    }

    /// Takes the next work, and starts other work that fits now on other threads.
    ///
    /// - Returns: `nil` if there is none: the thread counts as idle then.
    private func takeWaiting(after piece: Piece) -> Piece? {
        var others: [Piece] = []
        let own = state.withLock { state -> Piece? in
            state.load.remove(piece)
            guard let own = nextWaiting(&state) else {
                state.idle += 1
                return nil
            }
            state.load.add(own)
            while let other = nextWaiting(&state) { if begin(other, &state) { others.append(other) } }
            return own
        }
        for other in others where !startThread(with: other) {
            // Without another thread, this one does it after its own work.
            state.withLock { state in
                state.load.remove(other)
                state.append(other)
            }
        }
        return own
    }

    private func nextWaiting(_ state: inout State) -> Piece? {
        let load = state.load
        guard let next = state.waiting.removeFirst(where: { load.hasRoom(for: $0, of: limit) }) else { return nil }
        return state.pieces.removeValue(forKey: next.element)
    }

    /// - Returns: `nil` if the thread has to end.
    private func linger() -> Piece? {
        if !wakings.wait(milliseconds: lingering) && leave() { return nil }
        return state.withLock { $0.granted.removeFirst() }
    }

    /// Removes an idle thread after its timeout.
    ///
    /// - Returns: Whether it has to end.
    private func leave() -> Bool {
        let isLeaving = state.withLock { state in
            // If all idle threads were woken, this one was woken too, just after its timeout.
            if state.idle == 0 { return false }
            state.idle -= 1
            state.running -= 1
            return true
        }
        if !isLeaving { wakings.wait() }
        return isLeaving
    }
}
