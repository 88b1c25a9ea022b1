package import CofferCore
package import CofferMemory
package import CofferVault
package import CofferWire

// The content of an item in an answer, whichever store it is in.

extension FileHandlers {
    /// The requested part of an item's bytes.
    package static func range(_ params: ItemGetParameters, in count: Int64) throws(CofferError) -> Range<Int64> {
        let start = params.offset ?? 0
        guard start <= count else {
            throw CofferError(.param, "the range begins at \(start), and \(params.name.quoted) has \(count) bytes")
        }
        return start..<min(count, start + (params.length ?? count))
    }

    /// Refuses a range that no answer can carry.
    package static func checkFits(_ range: Range<Int64>, _ name: ItemName) throws(CofferError) {
        if range.count <= Limits.framePayloadBytes { return }
        throw CofferError(
            .dataTooLarge,
            "\(name.quoted) has \(range.count) bytes, and a reply carries \(Limits.framePayloadBytes) at most",
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
