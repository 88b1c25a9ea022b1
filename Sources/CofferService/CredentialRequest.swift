internal import CofferCore
internal import CofferSystem
internal import CofferWire

/// What a service manager wants for a unit that it starts, and how far that has come.
///
/// Lives on the server's actor.
final class CredentialRequest {
    let address: CredentialAddress
    /// When the unit has waited for long enough.
    let deadline: UInt64
    /// The state of the vault that it waits for the end of; `nil` while it does not wait.
    private(set) var stateWaitedOut: VaultState?
    /// Whether the content that was answered had no bytes.
    private var isEmpty = false
    /// The bytes of the refusal that are still to be sent.
    private var refusalByteCount = 0
    private var isRefused = false

    init(_ address: CredentialAddress, deadline: UInt64) {
        self.address = address
        self.deadline = deadline
    }

    /// The request that it comes to: of one byte more than may be answered, so that it is seen where there are too many.
    var request: Request {
        Request(
            id: nil,
            method: Method.itemGet.rawValue,
            params: ["name": .string(address.itemName), "length": .integer(Int64(address.contentBytes + 1))]
        )
    }

    /// Whether it waits for the vault to be in another state.
    var isWaiting: Bool { stateWaitedOut != nil }

    func wait(for state: VaultState) { stateWaitedOut = state }

    func stopWaiting() { stateWaitedOut = nil }

    /// Decides whether what was found can be answered.
    func refusal(of result: JSONObject) -> CofferError? {
        let count = (try? ItemGetResult(params: result))?.byteCount ?? 0
        isEmpty = count == 0
        return refusal(of: count)
    }

    /// Decides whether so many bytes can be answered.
    func refusal(of count: Int64) -> CofferError? {
        guard count > address.contentBytes else { return nil }
        return CofferError(
            .dataTooLarge,
            "a service manager takes \(address.contentBytes) bytes as \(quotedForDisplay(address.id)) at most",
            hint: "have the unit's program fetch it with 'coffer get'"
        )
    }

    /// What the audit says of it.
    var auditedReason: String {
        "credential \(quotedForDisplay(address.id))" + (isEmpty ? ", which is empty" : "")
    }

    // MARK: Refusing

    /// Begins to say no.
    ///
    /// A connection that just ended would be an empty credential, and the unit would start with it. A service manager fails
    /// for nothing but a credential that is too large.
    func refuse() {
        guard !isRefused else { return }
        isRefused = true
        stopWaiting()
        refusalByteCount = Self.refusal.count
    }

    var isBeingRefused: Bool { refusalByteCount > 0 }

    /// Sends what can be sent of a refusal.
    func sendRefusal(to socket: borrowing OwnedDescriptor) throws(SystemError) {
        while refusalByteCount > 0 {
            let bytes = Self.refusal
            let rest = unsafe bytes.span.bytes.extracting(droppingFirst: bytes.count - refusalByteCount)
            guard let count = try socket.send(rest) else { return }
            refusalByteCount -= count
        }
    }

    /// More than a credential may have, in words, should anybody ever see them.
    static let refusal: [UInt8] = {
        let line = Array("cofferd has refused this credential, and says why in its journal\n".utf8)
        return (0...Limits.credentialBytes / line.count).flatMap { _ in line }
    }()
}
