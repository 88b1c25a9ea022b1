internal import CofferRights
internal import CofferCore
internal import CofferHandlers
internal import CofferVault
internal import CofferWire

/// A request that is not answered yet.
final class PendingRequest {
    /// The id that the client gave it.
    let id: RequestID?
    let method: Method
    let params: JSONObject
    let attachments: Attachments
    /// Whether it reads from or writes to a client's descriptor, and so may take as long as the client wants.
    let isTransfer: Bool
    /// Its share of the limit for a connection's pending requests.
    let byteCount: Int
    /// The time of its arrival.
    let arrival: UInt64
    /// What permits it, if the client's own rights don't.
    var permit: StoredAccessRule?
    private(set) var scope: RequestScope
    /// The handler's view of it, once it has started.
    private var call: Call?
    var isStarted: Bool { call != nil }

    init(
        _ request: Request,
        _ method: Method,
        _ attachments: Attachments,
        byteCount: Int,
        at arrival: UInt64
    ) {
        id = request.id
        self.method = method
        params = request.params
        self.attachments = attachments
        self.byteCount = byteCount
        self.arrival = arrival
        isTransfer = attachments.hasDescriptor
        scope = RequestScope(of: method, request.params)
    }

    /// Whether the client wants to see its progress; its parameters are not validated.
    var wantsProgress: Bool { params["progress"]?.boolValue == true }

    /// Whether it uses up a one-time authentication.
    ///
    /// A request that waits for nothing runs beside the one that the authentication is for.
    var usesContext: Bool { scope != .free && !method.isOfContext }

    /// Starts it.
    ///
    /// - Parameter isAlone: Whether no other request of the connection may run meanwhile.
    func start(_ call: Call, isAlone: Bool) {
        self.call = call
        if isAlone { scope = .barrier }
    }

    func cancel() { call?.cancel() }
}
