package import CofferCore
public import CofferWire
internal import CofferMemory

/// Items of the keychain that a query found, with their secrets.
public struct KeychainMatches: Sendable {
    /// The items.
    public let page: KeychainPage
    /// The secret of each item of the page; `nil` where it did not come.
    public let secrets: [Secret?]

    /// Cuts the payload of an answer into the secrets of its items.
    ///
    /// - Parameters:
    ///   - page: The items.
    ///   - payload: The bytes that came with them.
    /// - Throws: `protocolViolation` where the payload is not as long as the items say.
    package init(_ page: KeychainPage, payload: Secret) throws(CofferError) {
        let announced = page.items.compactMap(\.byteCount).reduce(0, +)
        guard announced == payload.count else {
            throw .wrongCount(announced: Int64(announced), Int64(payload.count))
        }
        var secrets: [Secret?] = []
        var place = 0
        for item in page.items {
            guard let count = item.byteCount else {
                secrets.append(nil)
                continue
            }
            let range = place..<(place + count)
            secrets.append(
                try payload.withBytes { (bytes) throws(CofferError) in try Secret(copying: bytes.extracting(range)) }
            )
            place = range.upperBound
        }
        self.page = page
        self.secrets = secrets
    }
}
