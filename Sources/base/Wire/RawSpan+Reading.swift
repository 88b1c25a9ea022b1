internal import CofferCore
internal import CofferMemory

/// The only access to raw memory in this room. Each checks its bounds.
extension RawSpan {
    /// The byte at an offset; traps outside the span.
    subscript(offset: Int) -> UInt8 {
        // Any bit pattern is a byte, and the checked variant keeps the load inside the span.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// The text of a part of the span, or `nil` if it is not well-formed UTF-8.
    func text(in range: Range<Int>) -> String? {
        String(checking: Span<UInt8>(_bytes: extracting(range)))
    }
}

extension [UInt8] {
    /// Appends the bytes of a span.
    mutating func append(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append(contentsOf: $0) }
    }
}

extension SecretBytes {
    /// Overwrites a part; traps if `bytes` extends beyond the end.
    mutating func copy(_ bytes: RawSpan, to offset: Int) {
        unsafe withUnsafeMutableBytes { memory in
            unsafe bytes.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: source)
            }
        }
    }
}
