internal import Synchronization

/// Wakes the tasks that wait for it: the one place where this library suspends.
///
/// Ringing while no task waits is kept for the next one. So a task that checks, waits and checks again misses nothing.
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
    /// - Parameter cancel: Called where the task is cancelled, which by itself ends nothing; may be called twice.
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
