package import CofferCore
package import CofferMemory
package import CofferWire

/// Items of the keychain that a query found, with their secrets in one piece of locked memory.
package struct FoundItems: ~Copyable {
    /// The items.
    package let page: KeychainPage
    private let payload: SecretBytes?

    fileprivate init(page: KeychainPage, payload: consuming SecretBytes?) throws(CofferError) {
        let announced = page.items.compactMap(\.byteCount).reduce(0, +)
        guard announced == payload.byteCount else {
            throw .wrongCount(announced: Int64(announced), Int64(payload.byteCount))
        }
        self.page = page
        self.payload = payload
    }

    /// Reads the secret of an item where it lies.
    ///
    /// - Parameters:
    ///   - index: The place of the item in the page.
    ///   - body: Gets the bytes, for as long as it runs; none where the secret did not come.
    package borrowing func withSecret<Result, Failure: Error>(
        at index: Int,
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = page.items[..<index].compactMap(\.byteCount).reduce(0, +)
        let end = start + (page.items[index].byteCount ?? 0)
        switch payload {
        case .none: return try body(RawSpan())
        case .some(let payload):
            return try payload.withBytes { (bytes) throws(Failure) in try body(bytes.extracting(start..<end)) }
        }
    }

    /// Takes the payload out: the secret, where there is one item.
    package consuming func takePayload() -> SecretBytes? { payload }
}

extension BlockingClient {
    /// Searches for items, and reads their secrets where they were asked for.
    ///
    /// - Parameter params: What is searched for, and what is returned of it.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` where nothing that was found can be read now.
    package func findKeychainItems(_ params: KeychainFindParameters) throws(CofferError) -> FoundItems {
        let returned = try call(params)
        let page = returned.value
        return try FoundItems(page: page, payload: returned.takePayload())
    }
}

extension SecretBytes? {
    /// Checks the size of what came with an answer.
    ///
    /// - Parameters:
    ///   - count: The bytes that it has to have.
    ///   - what: What it is, for the error.
    /// - Throws: `protocolViolation` where it has another size.
    package consuming func ofSize(_ count: Int, _ what: String) throws(CofferError) -> SecretBytes {
        switch consume self {
        case .some(let bytes) where bytes.count == count: return bytes
        default: throw CofferError(.protocolViolation, "the daemon's answer has no \(what) of \(count) bytes")
        }
    }
}
