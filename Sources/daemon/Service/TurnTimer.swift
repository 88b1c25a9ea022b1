internal import CofferSystem

/// Begins a turn when something is due.
final class TurnTimer {
    private var timer: (any ClockTimer)?
    private var deadline: UInt64?

    /// - Parameter fire: Called before the turn.
    init(on loop: EventLoop, _ clock: BootClock, _ fire: @escaping () -> Void) throws(SystemError) {
        timer = try clock.timer(on: loop) { [unowned self] in
            deadline = nil
            fire()
        }
    }

    /// Sets it to the earliest deadline; a later one is set when it fires.
    func set(_ next: UInt64?) {
        guard let next, next < deadline ?? .max else { return }
        deadline = next
        timer?.set(next)
    }
}
