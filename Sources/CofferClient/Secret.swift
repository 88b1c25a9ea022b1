public import CofferCore
package import CofferMemory
internal import CofferWire

/// Bytes that must not be seen: what goes into the vault, and what comes out of it.
///
/// They live in locked memory that no core dump holds, never change, and are wiped when the last reference to them goes.
/// There is no description and no conversion: they are read where they lie, through ``withBytes(_:)``. What copies them to
/// ordinary memory, where nothing wipes them, says so by its name.
@safe
public final class Secret: Sendable, CustomReflectable {
    /// The bytes; `nil` where there are none, which costs no locked memory.
    package let content: SecretBytes?

    /// Takes bytes over that are in locked memory already.
    package init(_ content: consuming SecretBytes?) { self.content = content }

    /// Copies bytes from ordinary memory, which the caller has to wipe where it matters.
    ///
    /// - Parameter bytes: The bytes.
    /// - Throws: `internal` where memory for secrets can't be locked.
    public convenience init(copying bytes: RawSpan) throws(CofferError) {
        var content: SecretBytes?
        do {
            if bytes.byteCount > 0 { content = try SecretBytes(copying: bytes) }
        } catch {
            throw .noSecretMemory
        }
        self.init(content)
    }

    /// Has bytes written straight into locked memory: no other copy comes to be.
    ///
    /// - Parameters:
    ///   - capacity: The most bytes.
    ///   - body: Appends the bytes.
    /// - Throws: `internal` where memory for secrets can't be locked; what `body` throws.
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

    /// Copies a text that is in ordinary memory already, where nothing wipes it: a literal in a test, say.
    ///
    /// - Parameter text: The text, as UTF-8.
    /// - Throws: `internal` where memory for secrets can't be locked.
    public convenience init(exposed text: String) throws(CofferError) {
        let bytes = Array(text.utf8)
        try unsafe self.init(copying: bytes.span.bytes)
    }

    /// Puts two secrets behind one another, as the payload of `passcode.change` has them.
    ///
    /// - Parameters:
    ///   - given: The passcode, or the recovery key.
    ///   - new: The new passcode.
    /// - Throws: `dataTooLarge` where one has more than 65,535 bytes; `internal` where memory for secrets can't be locked.
    public convenience init(given: Secret, new: Secret) throws(CofferError) {
        self.init(try CountedPayload.encode(given.content, new.content))
    }

    /// How many bytes there are.
    public var count: Int { content.byteCount }

    /// Reads the bytes where they lie.
    ///
    /// - Parameter body: Gets the bytes, for as long as it runs.
    /// - Returns: What `body` returns.
    public func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        switch content {
        case .none: return try body(RawSpan())
        case .some(let bytes): return try bytes.withBytes(body)
        }
    }

    /// Compares in a time that depends on the counts only.
    ///
    /// - Parameter other: The secret to compare with.
    /// - Returns: Whether the bytes are the same.
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

    /// Copies the bytes to ordinary memory, where nothing wipes them.
    ///
    /// - Returns: The bytes.
    public func exposeBytes() -> [UInt8] {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }

    /// Copies the bytes to ordinary memory as a text, where nothing wipes it.
    ///
    /// - Returns: The text; `nil` where the bytes are not UTF-8.
    public func exposeText() -> String? {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) } }
    }

    /// Nothing: whatever prints or dumps a value finds no bytes in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
