public import CofferCore
public import CofferWire

/// The result of a call and its payload.
public struct Returned<Value: Sendable>: Sendable {
    /// The result.
    public let value: Value
    /// The payload; empty if the method returns none.
    public let payload: Secret
    /// The connection on which it arrived; a handle is valid only there.
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

    /// The payload, after its size was checked against the announced and the requested one.
    func payload(of announced: Int64, atMost wanted: Int = .max) throws(CofferError) -> Secret {
        guard announced == payload.count else { throw .wrongCount(announced: announced, Int64(payload.count)) }
        guard announced <= wanted else {
            throw CofferError(.protocolViolation, "the daemon sent \(announced) bytes, and \(wanted) were wanted")
        }
        return payload
    }
}

extension Returned<KeychainPage> {
    /// The secret of each item of the page; `nil` if it was not returned.
    ///
    /// - Returns: One entry for each item.
    /// - Throws: `protocolViolation` if the size of the payload differs from the sum of the items.
    public func secrets() throws(CofferError) -> [Secret?] {
        let announced = value.items.compactMap(\.byteCount).reduce(0) { sum, count in
            let (next, isOver) = sum.addingReportingOverflow(count)
            return isOver || count < 0 ? .max : next
        }
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
    /// Checks the size of a payload.
    ///
    /// - Parameters:
    ///   - count: The required size.
    ///   - what: The noun for the error.
    /// - Throws: `protocolViolation` if the size differs.
    package func ofSize(_ count: Int, _ what: String) throws(CofferError) -> Secret {
        if self.count == count { return self }
        throw CofferError(.protocolViolation, "the daemon's answer has no \(what) of \(count) bytes")
    }

    /// Checks the size of a signature, which depends on the type of the key.
    ///
    /// - Throws: `protocolViolation` if no signature has this size.
    package func ofSignatureSize() throws(CofferError) -> Secret {
        if 8...Limits.rsaBits / 8 ~= count { return self }
        throw CofferError(.protocolViolation, "the daemon's answer has no signature")
    }
}
