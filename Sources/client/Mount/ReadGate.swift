internal import CofferCore
internal import Glibc
internal import Synchronization

/// Counts the requests in flight, so that a lock, or an event, can wait for those that the daemon answered before it.
final class ReadGate: Sendable {
    private struct State {
        var generation = 0
        /// How many reads of each generation have no reply yet.
        var counts: [Int: Int] = [:]
    }

    private let state = Mutex(State())

    /// Runs a request and its reply.
    func pass<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let generation = state.withLock { state in
            state.counts[state.generation, default: 0] += 1
            return state.generation
        }
        defer { leave(generation) }
        try body()
    }

    private func leave(_ generation: Int) {
        state.withLock { state in
            let left = (state.counts[generation] ?? 1) - 1
            state.counts[generation] = left == 0 ? nil : left
        }
    }

    /// Waits until every request that has begun has its reply.
    ///
    /// - Parameter limit: How long; `nil` for ever.
    /// - Returns: Whether all of them have it.
    @discardableResult
    func drain(for limit: Duration? = nil) -> Bool {
        let end = limit.map { ContinuousClock.now + $0 }
        let current = state.withLock { state in
            state.generation += 1
            return state.generation
        }
        while state.withLock({ $0.counts.keys.contains { $0 < current } }) {
            if let end, end <= .now { return false }
            usleep(Limits.drainPauseMicroseconds)
        }
        return true
    }
}
