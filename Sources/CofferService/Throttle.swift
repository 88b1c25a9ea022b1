internal import CofferCore
internal import CofferSystem
internal import Synchronization

/// Lets something through at most ten times a second, and not before the first tenth is over.
///
/// For any thread.
final class Throttle: Sendable {

    private let clock: BootClock
    private let next: Atomic<UInt64>

    init(_ clock: BootClock) {
        self.clock = clock
        next = Atomic(clock.now + Limits.progressNanoseconds)
    }

    /// Whether it is time.
    func isDue() -> Bool {
        let now = clock.now
        guard now >= next.load(ordering: .relaxed) else { return false }
        next.store(now + Limits.progressNanoseconds, ordering: .relaxed)
        return true
    }
}
