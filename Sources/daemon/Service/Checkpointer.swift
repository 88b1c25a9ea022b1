internal import CofferCore
internal import CofferSystem
internal import CofferVault

/// Checkpoints the catalog's log after a moment without commits, and after each lock, when little depends on the disk.
final class Checkpointer: ServerPart {
    /// The end of the moment after the last commit.
    private(set) var nextDeadline: UInt64?

    /// Handles the end of a turn.
    ///
    /// - Parameter hasLocked: Whether keys were wiped in it.
    func settle(hasLocked: Bool) {
        guard let catalog = vault.openCatalog else { return nextDeadline = nil }
        if catalog.takeCommits() {
            nextDeadline = clock.now + UInt64(Limits.logDelayMilliseconds) * 1_000_000
        } else if let end = nextDeadline, end <= clock.now {
            nextDeadline = nil
            catalog.checkpoint()
        }
        if hasLocked { catalog.checkpoint(truncates: true) }
    }
}
