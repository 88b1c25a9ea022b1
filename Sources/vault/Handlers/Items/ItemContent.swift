package import CofferCore
package import CofferMemory
package import CofferVault
internal import CofferWire

// The content of an item in an answer, whichever store it is in.

extension ItemGetParameters {
    /// The requested part of an item's bytes.
    func range(in count: Int64) throws(CofferError) -> Range<Int64> {
        let start = offset ?? 0
        guard start <= count else {
            throw CofferError(.param, "the range begins at \(start), and \(name.quoted) has \(count) bytes")
        }
        return start..<min(count, start + (length ?? count))
    }
}

extension Range<Int64> {
    /// Refuses a part of an item that no answer can carry.
    func checkFits(_ name: ItemName) throws(CofferError) {
        if count <= Limits.framePayloadBytes { return }
        throw CofferError(
            .dataTooLarge,
            "\(name.quoted) has \(count) bytes, and a reply carries \(Limits.framePayloadBytes) at most",
            hint: "pass a descriptor to write it to, or ask for a range"
        )
    }
}

extension Step {
    /// The answer with the content of an item.
    package static func content(
        _ bytes: consuming SecretBytes,
        _ protection: Protection,
        expiryDate: Int64? = nil
    ) -> Step {
        let result = ItemGetResult(
            store: protection.store,
            byteCount: Int64(bytes.count),
            delivery: .payload,
            expiryDate: expiryDate,
            isExpired: expiryDate.map(hasPassed) ?? false
        )
        return .done(Reply(result, payload: bytes, protection: protection))
    }
}
