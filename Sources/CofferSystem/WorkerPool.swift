package import CofferCore
internal import Glibc
internal import Synchronization

/// Threads for what must not hold the event loop up: key derivation and the bodies of files.
///
/// A thread is started for work and ends soon after there is no more: nothing idles in a daemon that mostly sleeps, and
/// requests that follow one another need not start one each.
package final class WorkerPool: Sendable {
    private struct State {
        /// All threads, those that linger included.
        var running = 0
        /// Those that linger and that nobody has woken.
        var idle = 0
        var waiting: [@Sendable () -> Void] = []
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

    /// Runs work on a thread of the pool and comes back to the caller's actor with its result.
    ///
    /// - Parameters:
    ///   - isolation: The caller's actor, to which the result comes straight back.
    ///   - work: The work; what it returns may be noncopyable.
    /// - Returns: What `work` returned.
    /// - Throws: What `work` threw; `internal` where no thread can be had.
    package func run<Success: ~Copyable & Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ work: @escaping @Sendable () throws(CofferError) -> Success
    ) async throws(CofferError) -> Success {
        let handoff = Handoff<Success>()
        await withCheckedContinuation(isolation: isolation) { done in
            let isAccepted = submit {
                handoff.perform(work)
                done.resume()
            }
            if !isAccepted {
                handoff.fail(CofferError(.internal, "no thread can be started", hint: "raise the limit on tasks"))
                done.resume()
            }
        }
        return try handoff.take()
    }

    /// Does work that nobody waits for, if a thread can be had.
    ///
    /// - Parameter work: Runs on a thread of the pool.
    package func start(_ work: @escaping @Sendable () -> Void) { _ = submit(work) }

    /// - Returns: Whether the work is or will be done.
    private func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
        let mayStart = state.withLock { state in
            if state.idle > 0 {
                state.idle -= 1
                state.waiting.append(work)
                wakings.signal()
                return false
            }
            if state.running >= limit {
                state.waiting.append(work)
                return false
            }
            state.running += 1
            return true
        }
        return !mayStart || startThread(with: work)
    }

    private func startThread(with work: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = NativeThread.start({ self.drain(startingWith: work) }) else {
            state.withLock { $0.running -= 1 }
            return false
        }
        pthread_detach(thread)
        return true
    }

    private func drain(startingWith first: @Sendable () -> Void) {
        first()
        while let next = next() { next() }
    }

    /// - Returns: `nil` where the thread is to end.
    private func next() -> (@Sendable () -> Void)? {
        while true {
            if let work = takeWaiting() { return work }
            if !wakings.wait(milliseconds: lingering) && leave() { return nil }
        }
    }

    private func takeWaiting() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.idle += 1
            return nil
        }
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

/// Carries a result that has one owner from one thread to another: a continuation can't.
private final class Handoff<Success: ~Copyable & Sendable>: Sendable {
    private enum Outcome: ~Copyable {
        case pending
        case success(Success)
        case failure(CofferError)
    }

    private let outcome = Mutex<Outcome>(.pending)

    func perform(_ work: () throws(CofferError) -> Success) {
        do throws(CofferError) {
            let value = try work()
            put(value)
        } catch {
            fail(error)
        }
    }

    func fail(_ error: CofferError) { outcome.withLock { $0 = .failure(error) } }

    private func put(_ value: consuming sending Success) {
        var value: Success? = consume value
        outcome.withLock { outcome in
            if let value = value.take() { outcome = .success(value) }
        }
    }

    func take() throws(CofferError) -> Success {
        var taken = Outcome.pending
        outcome.withLock { outcome in swap(&outcome, &taken) }
        switch consume taken {
        case .success(let value): return value
        case .failure(let error): throw error
        case .pending: preconditionFailure("a result is taken after it was put")
        }
    }
}
