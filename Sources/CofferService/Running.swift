internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// A request that has begun, or a chore, until it is answered.
final class Running {
    /// Names it in the scheduler, and where it claims something.
    let token: Int
    /// The request and its connection; `nil` for a chore.
    let origin: Origin?
    let call: Call
    let kind: Scheduler.Kind
    let tenant: Int
    /// What comes next.
    var next: Step.Next

    struct Origin {
        let request: PendingRequest
        let connection: Connection
        let number: Int
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

/// What a request comes to, until the commit that it rests on.
final class Answer {
    let running: Running
    private var reply: Reply?
    private(set) var failure: CofferError?
    /// What the audit says that it was about, where the parameters do not.
    let items: [AuditedItem]
    /// Of the item that its payload is of.
    let protection: Protection?
    let payloadByteCount: Int
    let result: JSONObject
    /// Whether the commit has come.
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

    /// Takes the reply out; `nil` where it has failed.
    func takeReply() -> Reply? { failure == nil ? reply.take() : nil }

    /// Says more of a failure, if it has failed.
    func explain(_ body: (CofferError) -> CofferError) { failure = failure.map(body) }

    /// What it rests on was undone.
    func undo(because error: CofferError) { failure = running.call.explainUndoing(error) }
}

/// What other threads tell the loop.
enum Message: Sendable {
    /// The work of a request has an outcome.
    case worked(Int)
    /// The transfer of a request has come so far.
    case progressed(Int, done: Int64, total: Int64?)
}

/// Tells the loop how far a transfer is, ten times a second at the most.
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
