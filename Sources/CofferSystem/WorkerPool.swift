internal import CofferCore
internal import Glibc
internal import Synchronization

/// Threads for what must not hold the event loop up: key derivation and the bodies of files.
///
/// A thread is started for work and ends soon after there is no more: nothing idles in a daemon that mostly sleeps, and
/// requests that follow one another need not start one each. No party gets all the threads, and those that wait take turns.
package final class WorkerPool: Sendable {
    private struct Piece: Sendable {
        let work: @Sendable () -> Void
        let party: Int
    }

    /// How many threads work, and for whom.
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
        /// All threads, those that linger included.
        var running = 0
        /// Those that linger and that nobody has woken.
        var idle = 0
        /// What those that were woken are to do.
        var granted: [Piece] = []
        var load = Load()
        var waiting = FairQueue<Piece>()
    }

    private let limit: Int
    private let lingering: Int
    private let wakings = Semaphore(0)
    private let state = Mutex(State())

    /// Makes a pool without threads.
    ///
    /// - Parameters:
    ///   - limit: The most threads at once; further work waits.
    ///   - lingering: The milliseconds that a thread waits for further work.
    package init(limit: Int = Limits.workerThreads, lingering: Int = 100) {
        self.limit = limit
        self.lingering = lingering
    }

    /// Runs an item on a thread of the pool.
    ///
    /// - Parameters:
    ///   - item: What to run. Where no thread can be had, it fails with `internal`.
    ///   - party: For whom, among those who share the threads; 0 may have all of them.
    ///   - end: Called on that thread when the item has an outcome.
    package func submit(_ item: any WorkItem, for party: Int = 0, then end: @escaping @Sendable () -> Void) {
        let piece = Piece(
            work: {
                item.run()
                end()
            },
            party: party
        )
        if submit(piece) { return }
        item.fail(CofferError(.internal, "no thread can be started", hint: "raise the limit on tasks"))
        end()
    }

    /// Does work that nobody waits for, if a thread can be had.
    ///
    /// - Parameter work: Runs on a thread of the pool.
    package func start(_ work: @escaping @Sendable () -> Void) { _ = submit(Piece(work: work, party: 0)) }

    /// - Returns: Whether the work is or will be done.
    private func submit(_ piece: Piece) -> Bool {
        let mayStart = state.withLock { state in
            if state.load.hasRoom(for: piece.party, of: limit) { return begin(piece, &state) }
            state.waiting.append(piece, for: piece.party)
            return false
        }
        if !mayStart || startThread(with: piece) { return true }
        state.withLock { $0.load.remove(piece) }
        return false
    }

    /// - Returns: Whether a thread is to be started for it, because none lingers.
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

    /// Takes the next work, and has other threads do what else may be done now.
    ///
    /// - Returns: `nil` where the thread counts as lingering from now on.
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
            // It is this thread's, then, after its own.
            state.withLock { state in
                state.load.remove(other)
                state.waiting.append(other, for: other.party)
            }
        }
        return own
    }

    private func nextWaiting(_ state: inout State) -> Piece? {
        let load = state.load
        return state.waiting.removeFirst { load.hasRoom(for: $0, of: limit) }?.element
    }

    /// - Returns: `nil` where the thread is to end.
    private func linger() -> Piece? {
        if !wakings.wait(milliseconds: lingering) && leave() { return nil }
        return state.withLock { $0.granted.removeFirst() }
    }

    /// Ends the lingering of a thread that was not woken in time.
    ///
    /// - Returns: Whether it is to end.
    private func leave() -> Bool {
        let isLeaving = state.withLock { state in
            // Where all that linger were woken, this one was, too, just after its time.
            if state.idle == 0 { return false }
            state.idle -= 1
            state.running -= 1
            return true
        }
        if !isLeaving { wakings.wait() }
        return isLeaving
    }
}
