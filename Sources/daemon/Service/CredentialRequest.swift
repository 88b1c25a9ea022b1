internal import CofferCore
internal import CofferSystem
internal import CofferWire

/// A service manager's request for a credential of a unit.
final class CredentialRequest {
    let address: CredentialAddress
    /// The time until which the unit waits.
    let deadline: UInt64
    /// The state of the vault that it waits to change; `nil` if it does not wait.
    var blockingState: VaultState?
    /// Whether the content is empty.
    private var isEmpty = false
    /// The refusal, if it is refused.
    private var refusal: CredentialRefusal?

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
    var isWaiting: Bool { blockingState != nil }

    // MARK: Refusing

    /// Refuses it, by sending more than a service manager accepts.
    func refuse() {
        blockingState = nil
        refusal = refusal ?? CredentialRefusal()
    }

    /// Whether a part of the refusal is not sent yet.
    var isToBeRefused: Bool { refusal?.isSent == false }

    /// Sends as much of the refusal as the socket accepts.
    func sendRefusal(to socket: borrowing OwnedDescriptor) throws(SystemError) { try refusal?.send(to: socket) }

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
}
