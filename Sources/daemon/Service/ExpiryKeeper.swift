internal import CofferCore
internal import CofferHandlers
internal import CofferSystem
internal import CofferVault

/// Notifies clients that watch items when one of them has expired.
final class ExpiryKeeper: ServerPart {
    private let hub: EventHub
    /// When the next item expires.
    private(set) var nextDeadline: UInt64?

    init(_ hub: EventHub, beside part: ServerPart) {
        self.hub = hub
        super.init(beside: part)
    }

    /// Handles the end of a turn.
    func settle() {
        let (expired, wait) = handlers.item.followExpiry(isWanted: hub.wantsExpiry, at: wallClockMilliseconds())
        // The clock by which items expire may be set meanwhile.
        nextDeadline = wait.map { clock.now + UInt64(min($0, Limits.expiryWaitMilliseconds)) * 1_000_000 }
        if expired.isEmpty { return }
        hub.notify(of: .itemsDidChange(Array(expired.prefix(Limits.toldChanges))), to: .items)
        let untoldCount = expired.count - Limits.toldChanges
        if untoldCount > 0 { hub.notify(of: .eventsMissed(untoldCount), to: .items) }
    }
}
