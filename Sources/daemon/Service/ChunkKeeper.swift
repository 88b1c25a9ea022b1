internal import CofferCore
internal import CofferHandlers
internal import CofferSystem

/// Has the rows of chunks removed whose files were removed, and tries again some time after that has failed.
final class ChunkKeeper: ServerPart {
    /// When it is tried again, in nanoseconds of boot time.
    private(set) var nextDeadline: UInt64?

    /// Handles the end of a turn.
    func settle() {
        if handlers.vault.takeFailedRemoval() {
            nextDeadline = clock.now.adding(seconds: Limits.orphanRetrySeconds)
        }
        if let end = nextDeadline, clock.now < end { return }
        nextDeadline = nil
        handlers.vault.removeOrphanedChunks()
    }
}
