internal import CofferCore
internal import CofferHandlers
internal import CofferSystem
internal import CofferVault

/// Has the trash swept when the daemon has started, and once a day.
final class TrashKeeper: ServerPart {
    /// When it is swept next, in nanoseconds of boot time.
    private var due: UInt64 = 0

    var nextDeadline: UInt64? { due }

    /// Handles the end of a turn.
    func settle() {
        let now = clock.now
        guard now >= due else { return }
        due = now.adding(seconds: Limits.trashIntervalSeconds)
        handlers.trash.sweepTrash(countsTime: true)
    }
}
