internal import CofferAccess
internal import CofferCore
internal import CofferVault
internal import CofferWire

/// A request that has come and is not answered yet.
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
    /// What its handler knows of it, from its start on.
    private(set) var call: Call?

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
    func start(_ call: Call, isAlone: Bool) {
        isStarted = true
        self.call = call
        if isAlone { scope = .barrier }
    }

    /// Is not wanted any more.
    func cancel() { call?.cancel() }
}
