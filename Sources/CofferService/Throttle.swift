internal import CofferCore
internal import CofferSystem
internal import Synchronization

/// Limits an action to ten times a second, beginning after the first tenth.
///
/// Any thread may use it.
final class Throttle: Sendable {

    private let clock: BootClock
    private let next: Atomic<UInt64>

    init(_ clock: BootClock) {
        self.clock = clock
        next = Atomic(clock.now + Limits.progressNanoseconds)
    }

    /// Whether the action may be done now.
    func isDue() -> Bool {
        let now = clock.now
        guard now >= next.load(ordering: .relaxed) else { return false }
        next.store(now + Limits.progressNanoseconds, ordering: .relaxed)
        return true
    }
}
