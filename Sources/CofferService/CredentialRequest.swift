internal import CofferCore
internal import CofferSystem
internal import CofferWire

/// A service manager's request for a credential of a unit.
final class CredentialRequest {
    let address: CredentialAddress
    /// The time until which the unit waits.
    let deadline: UInt64
    /// The state of the vault that it waits to change; `nil` if it does not wait.
    private(set) var stateWaitedOut: VaultState?
    /// Whether the content is empty.
    private var isEmpty = false
    /// The bytes of the refusal that are still to be sent.
    private var refusalByteCount = 0
    private var isRefused = false

    init(_ address: CredentialAddress, deadline: UInt64) {
        self.address = address
        self.deadline = deadline
    }

    /// The equivalent request of a client.
    ///
    /// It asks for one byte more than the maximum, so that a content that is too large is detected.
    var request: Request {
        Request(
            id: nil,
            method: Method.itemGet.rawValue,
            params: ["name": .string(address.itemName), "length": .integer(Int64(address.contentBytes + 1))]
        )
    }

    /// Whether it waits for another state of the vault.
    var isWaiting: Bool { stateWaitedOut != nil }

    func wait(for state: VaultState) { stateWaitedOut = state }

    func stopWaiting() { stateWaitedOut = nil }

    /// Decides whether a content can be answered.
    func refusal(of result: JSONObject) -> CofferError? {
        let count = (try? ItemGetResult(params: result))?.byteCount ?? 0
        isEmpty = count == 0
        return refusal(of: count)
    }

    /// Decides whether a content of that size can be answered.
    func refusal(of count: Int64) -> CofferError? {
        guard count > address.contentBytes else { return nil }
        return CofferError(
            .dataTooLarge,
            "a service manager takes \(address.contentBytes) bytes as \(quotedForDisplay(address.id)) at most",
            hint: "have the unit's program fetch it with 'coffer get'"
        )
    }

    /// The reason in the audit.
    var auditedReason: String {
        "credential \(quotedForDisplay(address.id))" + (isEmpty ? ", which is empty" : "")
    }

    // MARK: Refusing

    /// Begins to refuse.
    ///
    /// Closing the connection would be an empty credential, and the unit would start with it. A service manager only
    /// fails for a credential that is too large.
    func refuse() {
        guard !isRefused else { return }
        isRefused = true
        stopWaiting()
        refusalByteCount = Self.refusal.count
    }

    var isBeingRefused: Bool { refusalByteCount > 0 }

    /// Sends as much of the refusal as possible.
    func sendRefusal(to socket: borrowing OwnedDescriptor) throws(SystemError) {
        while refusalByteCount > 0 {
            let bytes = Self.refusal
            let rest = unsafe bytes.span.bytes.extracting(droppingFirst: bytes.count - refusalByteCount)
            guard let count = try socket.send(rest) else { return }
            refusalByteCount -= count
        }
    }

    /// More bytes than a credential may have, in words in case they appear in a log.
    static let refusal: [UInt8] = {
        let line = Array("cofferd has refused this credential, and says why in its journal\n".utf8)
        return (0...Limits.credentialBytes / line.count).flatMap { _ in line }
    }()
}
