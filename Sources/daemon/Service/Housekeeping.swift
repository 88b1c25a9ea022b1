/// The work that no request asks for, and that is done some time after its cause.
struct Housekeeping {
    private let checkpointer: Checkpointer
    private let syncer: DeferredSyncer
    private let trash: TrashKeeper
    private let chunks: ChunkKeeper
    private let expiry: ExpiryKeeper
    private let mounts: Mounts
    private let idleExit: IdleExit

    init(beside part: ServerPart, _ hub: EventHub, _ mounts: Mounts) {
        checkpointer = Checkpointer(beside: part)
        syncer = DeferredSyncer(beside: part, hub)
        trash = TrashKeeper(beside: part)
        chunks = ChunkKeeper(beside: part)
        expiry = ExpiryKeeper(hub, beside: part)
        self.mounts = mounts
        idleExit = IdleExit(mounts, beside: part)
    }

    /// The earliest time at which something is due.
    var nextDeadline: UInt64? {
        checkpointer.nextDeadline.earlier(syncer.nextDeadline).earlier(trash.nextDeadline)
            .earlier(chunks.nextDeadline).earlier(expiry.nextDeadline)
            .earlier(mounts.nextDeadline).earlier(idleExit.nextDeadline)
    }

    /// Handles the end of a turn, before its answers are sent.
    func settle() {
        syncer.settle()
        trash.settle()
        chunks.settle()
        expiry.settle()
        mounts.settle()
    }

    /// Checkpoints the log, after the answers were sent.
    ///
    /// - Parameter hasLocked: Whether keys were wiped in the turn.
    func checkpoint(hasLocked: Bool) { checkpointer.settle(hasLocked: hasLocked) }

    /// Whether the daemon has been idle for long enough.
    func isExitDue() -> Bool { idleExit.isDue() }
}
