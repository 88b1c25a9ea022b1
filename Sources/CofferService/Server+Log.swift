internal import CofferCore
internal import CofferSystem

// The catalog's log is written back when nothing was committed for a moment, and behind each lock: little depends on it then.

extension Server {
    /// Follows the commits of a turn: behind its answers, so that none of them waits for it.
    func settleLog() {
        defer { logIsDue = false }
        guard let catalog = vault.openCatalog else { return }
        if catalog.takeCommits() {
            lastCommit = configuration.clock.now
            if !logTimerIsSet { setLogTimer() }
        }
        if logIsDue { catalog.checkpoint(truncates: true) }
    }

    private func setLogTimer() {
        logTimerIsSet = true
        logTimer?.set(lastCommit + UInt64(Limits.logDelayMilliseconds) * 1_000_000)
    }

    func logTimerFired() {
        logTimerIsSet = false
        let isQuiet = configuration.clock.now >= lastCommit + UInt64(Limits.logDelayMilliseconds) * 1_000_000
        isQuiet ? vault.openCatalog?.checkpoint() : setLogTimer()
    }
}
