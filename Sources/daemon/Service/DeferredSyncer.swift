internal import CofferCore
internal import CofferHandlers
internal import CofferSystem
internal import CofferVault

/// Syncs what clients have deferred, and notifies of what they have not synced, each a moment after the first of it.
final class DeferredSyncer: ServerPart {
    private let hub: EventHub
    private var syncDeadline: UInt64?
    private var announcingDeadline: UInt64?

    init(beside part: ServerPart, _ hub: EventHub) {
        self.hub = hub
        super.init(beside: part)
    }

    /// The end of the earlier moment.
    var nextDeadline: UInt64? { syncDeadline.earlier(announcingDeadline) }

    /// Handles the end of a turn.
    func settle() {
        if isDue(&syncDeadline, handlers.file.hasDeferred, Limits.syncDelayMilliseconds) {
            handlers.file.syncDeferred()
        }
        if isDue(&announcingDeadline, handlers.file.hasUnannounced, Limits.unsyncedDelayMilliseconds) { announce() }
    }

    private func isDue(_ deadline: inout UInt64?, _ isWanted: Bool, _ milliseconds: Int) -> Bool {
        guard isWanted else {
            deadline = nil
            return false
        }
        let now = clock.now
        if deadline == nil { deadline = now + UInt64(milliseconds) * 1_000_000 }
        guard let end = deadline, end <= now else { return false }
        deadline = nil
        return true
    }

    private func announce() {
        guard let catalog = vault.openCatalog, !catalog.hasChanges else { return }
        handlers.file.announceUnsynced()
        for event in catalog.changes.takeEvents() { hub.notify(of: event.event, to: .items, by: event.origin) }
    }
}
