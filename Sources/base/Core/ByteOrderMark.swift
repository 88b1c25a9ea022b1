// Some programs write the byte order mark of UTF-8 before a text. What is read as text begins behind it; what is copied
// keeps it, as it keeps every other byte.

extension RawSpan {
    /// Where a text begins: behind a byte order mark, if there is one.
    package var textStart: Int {
        guard byteCount >= 3 else { return 0 }
        let bytes = Span<UInt8>(_bytes: self)
        return bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF ? 3 : 0
    }
}

extension String {
    /// The text behind a byte order mark.
    package var withoutByteOrderMark: Substring {
        utf8.starts(with: [0xEF, 0xBB, 0xBF]) ? Substring(utf8.dropFirst(3)) : self[...]
    }
}
