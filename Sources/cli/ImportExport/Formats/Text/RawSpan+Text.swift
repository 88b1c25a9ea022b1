internal import CofferClient

extension RawSpan {
    /// The byte at a place; traps outside the span.
    func byte(at place: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: place, as: UInt8.self) }

    /// The text of a part that is not secret; bytes that are no UTF-8 are replaced.
    func plainText(_ range: Range<Int>) -> String { String(decoding: range.map { byte(at: $0) }, as: UTF8.self) }

    /// A range without the white space around it.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end && byte(at: start).isSpace { start += 1 }
        while end > start && byte(at: end - 1).isSpace { end -= 1 }
        return start..<end
    }

    /// Whether a text stands at a place.
    func has(_ text: String, at place: Int) -> Bool {
        place >= 0 && place + text.utf8.count <= byteCount
            && text.utf8.enumerated().allSatisfy { byte(at: place + $0.offset) == $0.element }
    }

    /// Whether a part is a text.
    func isText(_ text: String, in range: Range<Int>) -> Bool {
        range.count == text.utf8.count && has(text, at: range.lowerBound)
    }

    /// The first place of a byte in a range.
    func place(of wanted: UInt8, in range: Range<Int>) -> Int? { range.first { byte(at: $0) == wanted } }

    /// The number of the line of a place, from 1.
    func lineNumber(at place: Int) -> Int {
        (0..<Swift.min(place, byteCount)).reduce(1) { byte(at: $1) == 10 ? $0 + 1 : $0 }
    }

    /// The lines with their numbers, without their ends.
    func forEachLine<Failure: Error>(_ body: (Int, Range<Int>) throws(Failure) -> Void) throws(Failure) {
        var (start, number) = (0, 1)
        while start < byteCount {
            let end = place(of: 10, in: start..<byteCount) ?? byteCount
            let isReturned = end > start && byte(at: end - 1) == 13
            try body(number, start..<(isReturned ? end - 1 : end))
            start = end + 1
            number += 1
        }
    }

    /// Whether it is well-formed UTF-8.
    var isUTF8: Bool { (try? UTF8Span(validating: Span<UInt8>(_bytes: self))) != nil }
}

extension UInt8 {
    var isSpace: Bool { self == 32 || (9...13).contains(self) }
    var isDigit: Bool { (48...57).contains(self) }
}

extension Secret {
    /// Where the text of a file begins: behind the byte order mark of UTF-8.
    ///
    /// - Throws: `param` if it is empty, of another encoding, or contains a NUL.
    func textStart() throws(CofferError) -> Int {
        try withBytes { (bytes) throws(CofferError) -> Int in
            guard !bytes.trimmed(0..<bytes.byteCount).isEmpty else { throw .malformed("the file is empty") }
            if bytes.byteCount >= 2, [[0xFF, 0xFE], [0xFE, 0xFF]].contains([bytes.byte(at: 0), bytes.byte(at: 1)]) {
                throw .malformed("the file is UTF-16", hint: "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE")
            }
            if let place = bytes.place(of: 0, in: 0..<bytes.byteCount) {
                throw .malformed("line \(bytes.lineNumber(at: place)) contains a NUL byte: this is no text")
            }
            guard bytes.isUTF8 else { throw .malformed("the file is not UTF-8", hint: "save it as UTF-8") }
            return bytes.textStart
        }
    }
}
