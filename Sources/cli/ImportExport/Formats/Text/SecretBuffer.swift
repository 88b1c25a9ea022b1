package import CofferClient
internal import CofferMemory

/// Bytes that are appended to memory that is wiped.
struct SecretBuffer: ~Copyable {
    private var bytes: SecretBytes
    private(set) var count = 0

    /// Makes an empty buffer.
    ///
    /// - Parameter capacity: The number of bytes that are expected; it grows beyond.
    init(capacity: Int = 512) throws(CofferError) {
        do { bytes = try SecretBytes(zeros: max(32, capacity), in: .bulk) } catch { throw .noSecretMemory }
    }

    mutating func append(_ byte: UInt8) throws(CofferError) {
        try reserve(1)
        unsafe bytes.withUnsafeMutableBytes { unsafe $0[count] = byte }
        count += 1
    }

    mutating func append(_ span: RawSpan) throws(CofferError) {
        try reserve(span.byteCount)
        bytes.copy(span, to: count)
        count += span.byteCount
    }

    /// Appends text that is not secret.
    mutating func append(_ text: String) throws(CofferError) {
        try reserve(text.utf8.count)
        unsafe bytes.withUnsafeMutableBytes { buffer in
            for (index, byte) in text.utf8.enumerated() { unsafe buffer[count + index] = byte }
        }
        count += text.utf8.count
    }

    mutating func append(_ secret: Secret) throws(CofferError) {
        try secret.withBytes { (span) throws(CofferError) in try append(span) }
    }

    /// Appends a character.
    mutating func append(_ scalar: Unicode.Scalar) throws(CofferError) {
        for unit in UTF8.encode(scalar).map(Array.init) ?? [] { try append(unit) }
    }

    /// Removes the last bytes.
    mutating func removeLast(_ number: Int) { count -= number }

    /// The last byte; `nil` if there is none.
    var last: UInt8? { count == 0 ? nil : bytes.withBytes { $0.byte(at: count - 1) } }

    /// The bytes, as a secret that takes no more memory than they need.
    consuming func finish() throws(CofferError) -> Secret {
        if count == 0 { return Secret(nil) }
        bytes.truncate(to: count)
        return count * 2 >= capacity
            ? Secret(bytes)
            : try bytes.withBytes { (span) throws(CofferError) in
                try Secret(bulk: span)
            }
    }

    private var capacity: Int { max(bytes.count, 32) }

    private mutating func reserve(_ more: Int) throws(CofferError) {
        guard count + more > bytes.count else { return }
        var larger: SecretBytes
        do { larger = try SecretBytes(zeros: max(2 * bytes.count, count + more), in: .bulk) } catch {
            throw .noSecretMemory
        }
        bytes.withBytes { larger.copy($0.extracting(0..<count), to: 0) }
        bytes = larger
    }
}

extension Secret {
    /// Copies bytes into memory that is wiped, and locked as far as the limit allows.
    package convenience init(bulk span: RawSpan) throws(CofferError) {
        var content: SecretBytes?
        do { if span.byteCount > 0 { content = try SecretBytes(copying: span, in: .bulk) } } catch {
            throw .noSecretMemory
        }
        self.init(content)
    }

    /// Copies text that is not secret.
    package convenience init(bulk text: String) throws(CofferError) {
        let bytes = Array(text.utf8)
        try unsafe self.init(bulk: bytes.span.bytes)
    }

    /// A part.
    func part(_ range: Range<Int>) throws(CofferError) -> Secret {
        try withBytes { (span) throws(CofferError) in try Secret(bulk: span.extracting(range)) }
    }

    /// The value as text, for what is not secret, such as a title; `nil` for none.
    var plainText: String? { count == 0 ? nil : exposeText() }

    /// Without the white space around it.
    func trimmed() throws(CofferError) -> Secret {
        let range = withBytes { $0.trimmed(0..<$0.byteCount) }
        return range.count == count ? self : try part(range)
    }
}

/// A line of input for a program.
package enum SecretLine {
    /// A value with a line end.
    package static func with(_ value: Secret) throws(CofferError) -> Secret {
        var buffer = try SecretBuffer(capacity: value.count + 1)
        try buffer.append(value)
        try buffer.append(10)
        return try buffer.finish()
    }
}
