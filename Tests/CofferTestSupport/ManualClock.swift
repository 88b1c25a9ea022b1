package import CofferSystem
import Synchronization

/// A clock that a test advances, with its timers.
package final class ManualClock: Sendable {
    // Not zero, and different from the kernel's clock, so that a mix-up is detected.
    private let time = Mutex<UInt64>(86_400_000_000_000)
    private let timers = Mutex<[ManualTimer]>([])
    /// By how much each look advances it.
    private let step = Mutex<UInt64>(0)

    private let bootID: String

    /// Starts with a boot of the machine.
    ///
    /// - Parameter bootID: The ID of the boot.
    package init(bootID: String = "manual") { self.bootID = bootID }

    /// The clock for the code under test.
    package var clock: BootClock {
        BootClock(
            bootID: bootID,
            read: { self.look() },
            makeTimer: { (loop, handler) throws(SystemError) in
                let timer = try ManualTimer(self)
                try timer.expiries.deliver(on: loop, to: handler)
                self.timers.withLock { $0.append(timer) }
                return LoopsManualTimer(timer)
            }
        )
    }

    /// Has each look of the code under test take so long: what lasts for a time lasts for so many looks, on any machine.
    package func tick(by seconds: Double) { step.withLock { $0 = UInt64(seconds * 1_000_000_000) } }

    private func look() -> UInt64 {
        let step = step.withLock(\.self)
        return time.withLock { time in
            time += step
            return time
        }
    }

    /// The time, in nanoseconds.
    package var now: UInt64 { time.withLock { $0 } }

    /// Advances the clock and fires the timers that are due.
    package func advance(by seconds: Double) {
        sleep(for: seconds)
        for timer in timers.withLock({ $0 }) { timer.fireIfDue(at: now) }
    }

    /// Advances the clock without firing timers, as during a suspend.
    package func sleep(for seconds: Double) { time.withLock { $0 += UInt64(seconds * 1_000_000_000) } }
}

private final class ManualTimer: Sendable {
    private let clock: ManualClock
    private let deadline = Mutex<UInt64?>(nil)
    let expiries: Mailbox<Void>

    init(_ clock: ManualClock) throws(SystemError) {
        self.clock = clock
        expiries = try Mailbox()
    }

    func set(_ deadline: UInt64?) {
        self.deadline.withLock { $0 = deadline }
        fireIfDue(at: clock.now)
    }

    func fireIfDue(at now: UInt64) {
        let isDue = deadline.withLock { deadline in
            guard let time = deadline, time <= now else { return false }
            deadline = nil
            return true
        }
        if isDue { expiries.post(()) }
    }
}

/// The timer on the thread of its loop.
private final class LoopsManualTimer: ClockTimer {
    private let timer: ManualTimer

    init(_ timer: ManualTimer) { self.timer = timer }

    func set(_ deadline: UInt64?) { timer.set(deadline) }
}
