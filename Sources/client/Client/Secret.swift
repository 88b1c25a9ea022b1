public import CofferCore
package import CofferMemory
internal import CofferWire

/// Secret bytes that are stored in the vault or come from it.
///
/// They are in locked memory, which is excluded from core dumps, never change, and are wiped with the last
/// reference. There is no description and no conversion: ``withBytes(_:)`` reads them in place. Functions
/// that copy them to ordinary memory, which is not wiped, have "expose" in their names.
@safe
public final class Secret: Sendable, CustomReflectable {
    /// The bytes; `nil` for none, which uses no locked memory.
    package let content: SecretBytes?

    /// Takes ownership of bytes in locked memory.
    package init(_ content: consuming SecretBytes?) { self.content = content }

    /// Copies bytes from ordinary memory, which the caller wipes if necessary.
    ///
    /// - Parameter bytes: The bytes.
    /// - Throws: `internal` if memory for secrets can't be locked.
    public convenience init(copying bytes: RawSpan) throws(CofferError) {
        var content: SecretBytes?
        do {
            if bytes.byteCount > 0 { content = try SecretBytes(copying: bytes) }
        } catch {
            throw .noSecretMemory
        }
        self.init(content)
    }

    /// Writes bytes directly into locked memory, without another copy.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of bytes.
    ///   - body: Appends the bytes.
    /// - Throws: `internal` if memory for secrets can't be locked; the error of `body`.
    public convenience init(
        capacity: Int,
        initializingWith body: (inout OutputRawSpan) throws(CofferError) -> Void
    ) throws(CofferError) {
        var memory: SecretBytes
        do { memory = try SecretBytes(zeros: capacity) } catch { throw .noSecretMemory }
        let count = try unsafe memory.withUnsafeMutableBytes { (buffer) throws(CofferError) in
            var span = unsafe OutputRawSpan(buffer: buffer, initializedCount: 0)
            try body(&span)
            return unsafe span.finalize(for: buffer)
        }
        memory.truncate(to: count)
        self.init(memory)
    }

    /// Copies a text that is already in ordinary memory, which is not wiped; for example a literal in a test.
    ///
    /// - Parameter text: The text, which is stored as UTF-8.
    /// - Throws: `internal` if memory for secrets can't be locked.
    public convenience init(exposed text: String) throws(CofferError) {
        let bytes = Array(text.utf8)
        try unsafe self.init(copying: bytes.span.bytes)
    }

    /// Concatenates two secrets, as the payload of `passcode.change`.
    ///
    /// - Parameters:
    ///   - given: The passcode or the recovery key.
    ///   - new: The new passcode.
    /// - Throws: `dataTooLarge` if one exceeds 65,535 bytes; `internal` if memory for secrets can't be
    ///   locked.
    public convenience init(given: Secret, new: Secret) throws(CofferError) {
        self.init(try CountedPayload.encode(given.content, new.content))
    }

    /// The number of bytes.
    public var count: Int { content.byteCount }

    /// Reads the bytes in place.
    ///
    /// - Parameter body: Gets the bytes, which are valid only during the call.
    /// - Returns: The result of `body`.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch content {
        case .none: return try body(RawSpan())
        case .some(let bytes): return try bytes.withBytes(body)
        }
    }

    /// Compares two secrets in a time that depends only on their sizes.
    ///
    /// - Parameter other: The secret to compare with.
    /// - Returns: Whether the bytes are equal.
    public func isEqual(to other: Secret) -> Bool {
        switch content {
        case .none: return other.count == 0
        case .some(let bytes):
            switch other.content {
            case .none: return false
            case .some(let others): return bytes.isEqual(to: others)
            }
        }
    }

    /// Copies the bytes to ordinary memory, which is not wiped.
    ///
    /// - Returns: The bytes.
    public func exposeBytes() -> [UInt8] {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }

    /// Copies the bytes to ordinary memory as a text, which is not wiped.
    ///
    /// - Returns: The text; `nil` if the bytes are not UTF-8.
    public func exposeText() -> String? {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) } }
    }

    /// Empty, so that printing or dumping a value reveals no bytes.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
