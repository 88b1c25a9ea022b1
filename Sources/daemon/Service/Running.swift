internal import CofferCore
internal import CofferSystem
internal import CofferVault
internal import Synchronization

/// A request or a chore that has started, until its answer is delivered.
final class Running {
    /// Its number in the scheduler and among the claims.
    let token: Int
    /// The request and its connection; `nil` for a chore.
    let origin: (request: PendingRequest, connection: Connection)?
    let call: Call
    let kind: Scheduler.Kind
    let tenant: Int
    /// The continuation.
    var next: Step.Next
    /// The reply, if it has ended with one.
    private(set) var reply: Reply?
    /// The error, if it has ended with one.
    private(set) var failure: CofferError?
    /// The items for the audit, if the parameters don't name them.
    private(set) var items: [AuditedItem] = []
    /// Whether it has ended, and only its answer is left.
    private(set) var hasEnded = false
    /// Whether the commit that it waits for has been made.
    var isSettled = false
    /// Whether it has changed something that its handler waits to see committed.
    var hasChanged = false
    /// Whether the audit has its outcome already.
    var isRecorded = false

    init(
        _ token: Int,
        _ origin: (PendingRequest, Connection)?,
        _ call: Call,
        _ kind: Scheduler.Kind,
        of tenant: Int,
        _ first: @escaping Step.Next
    ) {
        self.token = token
        self.origin = origin
        self.call = call
        self.kind = kind
        self.tenant = tenant
        next = first
    }

    func end(with reply: consuming Reply) {
        items = reply.items
        self.reply = consume reply
        hasEnded = true
    }

    func end(with error: CofferError) {
        failure = error
        hasEnded = true
        // What was recorded with its commit has happened, and this as well.
        isRecorded = false
    }

    /// Fails instead: the changes that its answer or its continuation depends on were rolled back.
    ///
    /// A request that was cancelled before it changed anything stays cancelled: its answer depends on no change.
    func undo(because error: CofferError) {
        if failure?.code == .userCanceled && !hasChanged { return }
        failure = call.explainUndoing(error)
    }

    func takeReply() -> Reply? { reply.take() }
}

/// A message of another thread to the loop.
enum Message: Sendable {
    /// The work of a request is done.
    case worked(Int)
    /// The progress of a request's transfer.
    case progressed(Int, done: Int64, total: Int64?)
}

/// Reports the progress of a transfer to the loop, ten times a second at most, beginning after the first tenth.
final class TransferProgress: ProgressObserver {
    private let token: Int
    private let mailbox: Mailbox<Message>
    private let clock: BootClock
    /// The earliest time of the next report.
    private let next: Atomic<UInt64>

    init(_ token: Int, _ mailbox: Mailbox<Message>, _ clock: BootClock) {
        self.token = token
        self.mailbox = mailbox
        self.clock = clock
        next = Atomic(clock.now + Limits.progressNanoseconds)
    }

    func report(_ done: Int64, of total: Int64?) {
        let now = clock.now
        guard now >= next.load(ordering: .relaxed) else { return }
        next.store(now + Limits.progressNanoseconds, ordering: .relaxed)
        mailbox.post(.progressed(token, done: done, total: total))
    }
}
