internal import CofferAccess
internal import CofferCore
internal import CofferSystem
internal import CofferWire

/// A request that has come and is not answered yet.
///
/// Lives on the server's actor.
final class PendingRequest {
    /// Names it, among those of its connection.
    let number: Int
    /// What its client calls it.
    let id: RequestID?
    let method: Method
    let params: JSONObject
    let attachments: Attachments
    /// Whether it reads from or writes to a descriptor of the client's, and so lasts as long as somebody there likes.
    let isTransfer: Bool
    /// What it weighs in the bound of what a connection may have waiting.
    let byteCount: Int
    /// When it came.
    let arrival: UInt64
    /// The lease that allows it, where the client's own rights would not do.
    var lease: Lease?
    private(set) var scope: RequestScope
    private(set) var isStarted = false
    /// The client has said that it is not wanted any more, or has gone.
    private(set) var isCancelled = false
    private var cancellation: Cancellation?

    init(
        _ number: Int,
        _ request: Request,
        _ method: Method,
        _ attachments: Attachments,
        byteCount: Int,
        at arrival: UInt64
    ) {
        self.number = number
        id = request.id
        self.method = method
        params = request.params
        self.attachments = attachments
        self.byteCount = byteCount
        self.arrival = arrival
        isTransfer = attachments.hasDescriptor
        scope = RequestScope(of: method, request.params)
    }

    /// Whether what was shown of the person may be used up by it: what waits for nothing runs beside the request that it is for.
    var usesContext: Bool { scope != .free && !method.isOfContext }

    /// Begins to be carried out.
    ///
    /// - Parameter isAlone: Whether nothing else of the connection may be carried out meanwhile.
    func start(isAlone: Bool) {
        isStarted = true
        if isAlone { scope = .barrier }
    }

    /// Is not wanted any more.
    func cancel() {
        isCancelled = true
        cancellation?.cancel()
    }

    /// Lets the end of its being wanted end what it waits for.
    func cancel(with cancellation: Cancellation) {
        self.cancellation = cancellation
        if isCancelled { cancellation.cancel() }
    }
}

extension CofferError {
    /// The answer to a request whose method this build does not have.
    static func unknownMethod(_ name: String) -> CofferError {
        CofferError(
            .unimplemented,
            "the method \(quotedForDisplay(name)) is not known",
            hint: "this daemon is version \(Version.program)"
        )
    }

    /// The answer to a request that its client has taken back.
    static let cancelled = CofferError(.userCanceled, "the request was cancelled")
}
