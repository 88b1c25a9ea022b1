internal import CofferCore

/// The only access to raw memory in this room. Each checks its bounds.
extension RawSpan {
    /// The byte at an offset; traps outside the span.
    subscript(offset: Int) -> UInt8 {
        // Any bit pattern is a byte, and the checked variant keeps the load inside the span.
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    /// The first offset of a quote, a backslash or a control character, which need an escape in a text of JSON; the end if
    /// the text has none.
    func endOfPlainText(from start: Int) -> Int {
        var offset = start
        // Eight bytes at a time.
        while offset + 8 <= byteCount,
            unsafe !unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self).hasByteToEscape
        {
            offset += 8
        }
        while offset < byteCount, !self[offset].isToEscape { offset += 1 }
        return offset
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

extension UInt8 {
    /// Whether the byte needs an escape in a text of JSON.
    var isToEscape: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}

extension UInt64 {
    /// Whether one of the eight bytes needs an escape in a text of JSON.
    fileprivate var hasByteToEscape: Bool {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let (quotes, backslashes) = (self ^ ones &* 0x22, self ^ ones &* 0x5C)
        // The top bit of the lowest byte that is 0, or below 0x20, is set by a subtraction that needs to borrow.
        let isQuote = (quotes &- ones) & ~quotes
        let isBackslash = (backslashes &- ones) & ~backslashes
        let isControl = (self &- ones &* 0x20) & ~self
        return (isQuote | isBackslash | isControl) & tops != 0
    }
}
