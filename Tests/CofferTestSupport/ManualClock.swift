package import CofferSystem
import Synchronization

/// A clock that goes when a test says so, and takes its timers along.
package final class ManualClock: Sendable {
    // Not zero, and far from the kernel's: who mixes the two up is found out.
    private let time = Mutex<UInt64>(86_400_000_000_000)
    private let timers = Mutex<[ManualTimer]>([])

    private let bootID: String

    /// Begins with a boot of the machine.
    ///
    /// - Parameter bootID: Its name; another one is another boot.
    package init(bootID: String = "manual") { self.bootID = bootID }

    /// For who is to go by it.
    package var clock: BootClock {
        BootClock(
            bootID: bootID,
            read: { self.now },
            makeTimer: { (loop, handler) throws(SystemError) in
                let timer = try ManualTimer(self)
                try timer.expiries.deliver(on: loop, to: handler)
                self.timers.withLock { $0.append(timer) }
                return LoopsManualTimer(timer)
            }
        )
    }

    /// The time, in nanoseconds.
    package var now: UInt64 { time.withLock { $0 } }

    /// Moves on; timers whose time has come go off.
    package func advance(by seconds: Double) {
        sleep(for: seconds)
        for timer in timers.withLock({ $0 }) { timer.fireIfDue(at: now) }
    }

    /// Moves on, as while a machine sleeps: no timer has gone off yet.
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

/// The timer, on the thread of its loop.
private final class LoopsManualTimer: ClockTimer {
    private let timer: ManualTimer

    init(_ timer: ManualTimer) { self.timer = timer }

    func set(_ deadline: UInt64?) { timer.set(deadline) }
}
