internal import Synchronization

/// Wakes the tasks that wait for it; the only suspension point of a call.
///
/// If it rings while no task waits, the next wait returns at once. A task that checks, waits and checks again
/// therefore misses no change.
final class Alarm: Sendable {
    private struct State {
        var hasRung = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func ring() {
        let woken = state.withLock { state in
            let waiters = state.waiters
            state.waiters = []
            state.hasRung = waiters.isEmpty
            return waiters
        }
        for waiter in woken { waiter.resume() }
    }

    /// Waits until it rings.
    ///
    /// - Parameter cancel: Called if the task is cancelled, possibly twice. The cancellation alone does not
    ///   end the wait.
    func wait(onCancel cancel: @escaping @Sendable () -> Void) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    defer { state.hasRung = false }
                    if !state.hasRung { state.waiters.append(continuation) }
                    return state.hasRung
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }
}
