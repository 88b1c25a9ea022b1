public import CofferCore
public import CofferWire

/// What a call brought back.
public struct Returned<Value: Sendable>: Sendable {
    /// The result.
    public let value: Value
    /// The bytes that came with it; none where the method gives none.
    public let payload: Secret
    /// The number of the connection that it came on: a handle means something on that one only.
    public let epoch: Int

    package init(value: Value, payload: Secret, epoch: Int) {
        self.value = value
        self.payload = payload
        self.epoch = epoch
    }

    init<Parameters: MethodParameters>(
        _ answer: Answer,
        to parameters: Parameters.Type
    ) throws(CofferError) where Parameters.Result == Value {
        self.init(value: try Parameters.coding.result(answer.json), payload: answer.payload, epoch: answer.epoch)
    }

    /// The payload, where it has the bytes that the result announces, and no more than were wanted.
    func payload(of announced: Int64, atMost wanted: Int = .max) throws(CofferError) -> Secret {
        guard announced == payload.count else { throw .wrongCount(announced: announced, Int64(payload.count)) }
        guard announced <= wanted else {
            throw CofferError(.protocolViolation, "the daemon sent \(announced) bytes, and \(wanted) were wanted")
        }
        return payload
    }
}

extension Returned<KeychainPage> {
    /// The secret of each item of the page; `nil` where it did not come.
    ///
    /// - Returns: As many as the page has items.
    /// - Throws: `protocolViolation` where the payload is not as long as the items say.
    public func secrets() throws(CofferError) -> [Secret?] {
        let announced = value.items.compactMap(\.byteCount).reduce(0, +)
        let payload = try payload(of: Int64(announced))
        var secrets: [Secret?] = []
        var place = 0
        for item in value.items {
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
        return secrets
    }
}

extension Secret {
    /// Checks the size of what came with an answer.
    ///
    /// - Parameters:
    ///   - count: The bytes that it has to have.
    ///   - what: What it is, for the error.
    /// - Throws: `protocolViolation` where it has another size.
    package func ofSize(_ count: Int, _ what: String) throws(CofferError) -> Secret {
        if self.count == count { return self }
        throw CofferError(.protocolViolation, "the daemon's answer has no \(what) of \(count) bytes")
    }
}
