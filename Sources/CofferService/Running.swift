internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// A request or a chore that has started, until it is answered.
final class Running {
    /// Its number in the scheduler and among the claims.
    let token: Int
    /// The request and its connection; `nil` for a chore.
    let origin: Origin?
    let call: Call
    let kind: Scheduler.Kind
    let tenant: Int
    /// The continuation.
    var next: Step.Next

    struct Origin {
        let request: PendingRequest
        let connection: Connection
    }

    init(
        _ token: Int,
        _ origin: Origin?,
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
}

/// The result of a request, until the commit that it depends on.
final class Answer {
    let running: Running
    private var reply: Reply?
    private(set) var failure: CofferError?
    /// The items for the audit, if the parameters don't name them.
    let items: [AuditedItem]
    /// The protection of the payload's item.
    let protection: Protection?
    let payloadByteCount: Int
    let result: JSONObject
    /// Whether the commit has been made.
    var isSettled = false

    init(_ running: Running, _ reply: consuming Reply) {
        self.running = running
        items = reply.items
        protection = reply.protection
        payloadByteCount = reply.payload.byteCount
        result = reply.result
        self.reply = consume reply
    }

    init(_ running: Running, failure: CofferError) {
        self.running = running
        self.failure = failure
        items = []
        protection = nil
        payloadByteCount = 0
        result = [:]
        reply = nil
    }

    /// Takes the reply out; `nil` if the result is an error.
    func takeReply() -> Reply? { failure == nil ? reply.take() : nil }

    /// Replaces the error, if the result is one.
    func explain(_ body: (CofferError) -> CofferError) { failure = failure.map(body) }

    /// Turns it into an error: the changes that it depends on were rolled back.
    func undo(because error: CofferError) { failure = running.call.explainUndoing(error) }
}

/// A message of another thread to the loop.
enum Message: Sendable {
    /// The work of a request is done.
    case worked(Int)
    /// The progress of a request's transfer.
    case progressed(Int, done: Int64, total: Int64?)
}

/// Reports the progress of a transfer to the loop, ten times a second at most.
final class TransferProgress: ProgressObserver {
    private let token: Int
    private let mailbox: Mailbox<Message>
    private let throttle: Throttle

    init(_ token: Int, _ mailbox: Mailbox<Message>, _ clock: BootClock) {
        self.token = token
        self.mailbox = mailbox
        throttle = Throttle(clock)
    }

    func report(_ done: Int64, of total: Int64?) {
        if throttle.isDue() { mailbox.post(.progressed(token, done: done, total: total)) }
    }
}
