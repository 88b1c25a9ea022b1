package import CofferCore
package import CofferMemory

/// A payload with more than one secret, each after its length, a big-endian 16-bit integer.
package struct CountedPayload: ~Copyable {
    private static let countBytes = 2

    private let payload: SecretBytes?
    private var offset = 0

    /// Begins to read a payload.
    package init(_ payload: consuming SecretBytes?) { self.payload = payload }

    /// Concatenates two secrets, each after its length.
    ///
    /// - Parameters:
    ///   - first: At most 65,535 bytes.
    ///   - second: At most 65,535 bytes.
    /// - Returns: The payload.
    /// - Throws: `dataTooLarge` if a secret has more; `internal` if memory for the payload can't be locked.
    package static func encode(
        _ first: borrowing SecretBytes?,
        _ second: borrowing SecretBytes?
    ) throws(CofferError) -> SecretBytes {
        guard max(first.byteCount, second.byteCount) <= Int(UInt16.max) else {
            throw CofferError(.dataTooLarge, "a secret that travels beside another one has at most 65535 bytes")
        }
        var payload: SecretBytes
        do {
            payload = try SecretBytes(zeros: 2 * countBytes + first.byteCount + second.byteCount)
        } catch {
            throw .noSecretMemory
        }
        write(first, to: &payload, at: 0)
        write(second, to: &payload, at: countBytes + first.byteCount)
        return payload
    }

    /// Takes the next secret.
    ///
    /// - Parameter subject: The secret, for the error, such as `the new passcode`.
    /// - Returns: Its bytes, possibly none.
    /// - Throws: `param` if the payload ends early; `internal` if memory for it can't be locked.
    package mutating func next(_ subject: String) throws(CofferError) -> SecretBytes {
        let start = offset
        switch payload {
        case .none: throw Self.endsEarly(subject)
        case .some(let payload):
            let secret = try payload.withBytes { (bytes) throws(CofferError) in
                try Self.secret(in: bytes, at: start, subject)
            }
            offset = start + Self.countBytes + secret.count
            return secret
        }
    }

    /// Ends reading.
    ///
    /// - Throws: `param` if something is left.
    package func finish() throws(CofferError) {
        if offset < payload.byteCount {
            throw CofferError(.param, "the payload goes on behind its last secret")
        }
    }

    private static func secret(
        in bytes: RawSpan,
        at start: Int,
        _ subject: String
    ) throws(CofferError) -> SecretBytes {
        guard bytes.byteCount - start >= countBytes else { throw endsEarly(subject) }
        let count = Int(bytes[start]) << 8 | Int(bytes[start + 1])
        let rest = bytes.extracting(droppingFirst: start + countBytes)
        guard rest.byteCount >= count else { throw endsEarly(subject) }
        do { return try SecretBytes(copying: rest.extracting(first: count)) } catch { throw .noSecretMemory }
    }

    private static func write(_ secret: borrowing SecretBytes?, to payload: inout SecretBytes, at place: Int) {
        var count = ByteWriter()
        count.write(UInt16(secret.byteCount))
        unsafe payload.copy(count.bytes.span.bytes, to: place)
        switch secret {
        case .none: return
        case .some(let secret): secret.withBytes { payload.copy($0, to: place + countBytes) }
        }
    }

    private static func endsEarly(_ subject: String) -> CofferError {
        CofferError(
            .param,
            "the payload ends before \(subject) does",
            hint: "each secret stands behind its count of bytes, a big-endian 16-bit integer"
        )
    }
}
