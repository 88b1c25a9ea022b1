internal import CofferCore
internal import CofferKernelFiles
internal import CofferSystem
internal import CofferVault
internal import CofferWire
internal import Synchronization

/// A request or a chore that has started, until its answer is delivered.
final class Running {
    /// Its number in the scheduler and among the claims.
    let token: Int
    /// Who asks for it.
    enum Source {
        case client(PendingRequest, Connection)
        case kernel(KernelRequest)
        /// Nobody: it is a chore.
        case daemon
    }

    private let source: Source
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
    /// Whether it has changed something that its handler waits to see committed.
    var hasChanged = false
    /// Whether the audit has its outcome already.
    var isRecorded = false

    init(
        _ token: Int,
        _ source: Source,
        _ call: Call,
        _ kind: Scheduler.Kind,
        of tenant: Int,
        _ first: @escaping Step.Next
    ) {
        self.token = token
        self.source = source
        self.call = call
        self.kind = kind
        self.tenant = tenant
        next = first
    }

    /// The request of a client, and its connection.
    var origin: (request: PendingRequest, connection: Connection)? {
        if case .client(let request, let connection) = source { (request, connection) } else { nil }
    }

    /// The request of the kernel.
    var kernel: KernelRequest? { if case .kernel(let request) = source { request } else { nil } }

    /// The method that it calls; of a request of the kernel the one that does the same.
    var method: Method? { origin?.request.method ?? kernel?.operation.method }

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

/// The requests and chores that have started, by their tokens.
struct RunningRequests {
    private var all: [Int: Running] = [:]
    private var lastToken = 0

    /// The token of a new one.
    mutating func takeToken() -> Int {
        lastToken += 1
        return lastToken
    }

    subscript(token: Int) -> Running? {
        get { all[token] }
        set { all[token] = newValue }
    }

    /// The request of a call, and its connection.
    func origin(of call: Call) -> (request: PendingRequest, connection: Connection)? {
        all.values.first { $0.call === call }?.origin
    }
}

/// The requests that are answered, or continue, after the turn's commit, with the events of what was committed.
struct Uncommitted {
    private var waiting: [Running] = []
    /// The requests whose commit has been made.
    private var settled: [Running] = []
    private var events: [OriginatedEvent] = []

    var isEmpty: Bool { waiting.isEmpty && settled.isEmpty }

    mutating func append(_ running: Running) { waiting.append(running) }

    /// Records a commit.
    ///
    /// - Parameters:
    ///   - failure: Why it was rolled back, if it was.
    ///   - events: The events of its changes.
    mutating func settle(_ failure: CofferError?, _ events: [OriginatedEvent]) {
        self.events += events
        if let failure { for running in waiting { running.undo(because: failure) } }
        settled += waiting
        waiting = []
    }

    /// Takes the requests whose commit has been made.
    ///
    /// - Parameter isCommitted: Whether nothing is left to be committed, so that none has to wait.
    mutating func takeSettled(isCommitted: Bool) -> [Running] {
        defer { settled = [] }
        if !isCommitted { return settled }
        defer { waiting = [] }
        return settled.isEmpty ? waiting : settled + waiting
    }

    mutating func takeEvents() -> [OriginatedEvent] {
        defer { events = [] }
        return events
    }
}

/// The threads for the work of requests.
struct Workers {
    /// For the contents of files.
    private let contents = WorkerPool()
    /// For transfers to and from clients: their descriptors may be those of a mount that the daemon itself has to
    /// answer, by other threads.
    private let transfers = WorkerPool()
    /// For stretching passcodes: no transfer, however slow, blocks it.
    private let keys = WorkerPool(limit: 1, lingering: 0)

    func pool(for lane: WorkLane, isTransfer: Bool) -> WorkerPool {
        lane == .keys ? keys : isTransfer ? transfers : contents
    }
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
