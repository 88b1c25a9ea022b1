internal import CofferCore
internal import CofferSystem
internal import CofferVault

/// Checkpoints the catalog's log after a moment without commits, and after each lock, when little depends on the disk.
final class Checkpointer {
    private let clock: BootClock
    private let vault: Vault
    private var timer: (any ClockTimer)?
    private var timerIsSet = false
    private var lastCommit: UInt64 = 0

    init(_ clock: BootClock, _ vault: Vault, on loop: EventLoop) throws(SystemError) {
        self.clock = clock
        self.vault = vault
        timer = try clock.timer(on: loop) { [unowned self] in timerFired() }
    }

    /// Handles the end of a turn.
    ///
    /// - Parameter hasLocked: Whether keys were wiped in it.
    func settle(hasLocked: Bool) {
        guard let catalog = vault.openCatalog else { return }
        if catalog.takeCommits() {
            lastCommit = clock.now
            if !timerIsSet { setTimer() }
        }
        if hasLocked { catalog.checkpoint(truncates: true) }
    }

    private var quietTime: UInt64 { lastCommit + UInt64(Limits.logDelayMilliseconds) * 1_000_000 }

    private func setTimer() {
        timerIsSet = true
        timer?.set(quietTime)
    }

    private func timerFired() {
        timerIsSet = false
        clock.now >= quietTime ? vault.openCatalog?.checkpoint() : setTimer()
    }
}
