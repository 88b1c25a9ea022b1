/// An element of DER text, as a range of the bytes from which it was read.
package struct DERElement {
    /// The tags that certificates and keys have.
    package enum Tag {
        package static let boolean: UInt8 = 0x01
        package static let integer: UInt8 = 0x02
        package static let bitString: UInt8 = 0x03
        package static let octetString: UInt8 = 0x04
        package static let objectIdentifier: UInt8 = 0x06
        package static let utcTime: UInt8 = 0x17
        package static let generalizedTime: UInt8 = 0x18
        package static let sequence: UInt8 = 0x30
        package static let set: UInt8 = 0x31

        /// The tag of a field that is identified by a number, such as `[3]`.
        package static func field(_ number: UInt8, isConstructed: Bool) -> UInt8 {
            (isConstructed ? 0xA0 : 0x80) | number
        }
    }

    package let tag: UInt8
    package let whole: Range<Int>
    package let content: Range<Int>

    package var isConstructed: Bool { tag & 0x20 != 0 }
}

/// What is wrong with DER text, in words: a clause that can follow a colon.
package struct DERError: Error {
    package let finding: String

    package init(_ finding: String) { self.finding = finding }
}

/// Reads one element after the other, in DER only: every value has one encoding, and any other is refused.
package struct DERReader {
    package private(set) var place: Int
    private let end: Int

    /// Creates a reader for a range of the bytes, which are passed to each call.
    package init(_ range: Range<Int>) {
        place = range.lowerBound
        end = range.upperBound
    }

    package var isAtEnd: Bool { place == end }

    /// Takes the next element.
    package mutating func next(in bytes: RawSpan) throws(DERError) -> DERElement {
        let start = place
        let tag = try takeByte(in: bytes)
        guard tag & 0x1F != 0x1F else { throw DERError("at byte \(start): a tag above 30") }
        if tag & 0xC0 == 0 {
            guard tag != 0 else { throw DERError("at byte \(start): an end mark, which DER has not") }
            // Sequences and sets contain elements, and in DER no other universal type does.
            let hasElements = tag & 0x1F == 0x10 || tag & 0x1F == 0x11
            guard hasElements == (tag & 0x20 != 0) else {
                throw DERError("at byte \(start): tag \(hexadecimal(tag)), which DER has not")
            }
        }
        let count = try takeLength(in: bytes)
        guard count <= end - place else {
            throw DERError("at byte \(start): \(count) bytes are announced, and \(end - place) are there")
        }
        let content = place..<(place + count)
        place = content.upperBound
        return DERElement(tag: tag, whole: start..<place, content: content)
    }

    /// Takes the next element, which must have this tag.
    ///
    /// - Parameter name: The name of the element, for the error.
    package mutating func next(_ tag: UInt8, _ name: StaticString, in bytes: RawSpan) throws(DERError) -> DERElement {
        guard !isAtEnd else { throw DERError("\(name) is missing at byte \(place)") }
        let element = try next(in: bytes)
        guard element.tag == tag else {
            let found = hexadecimal(element.tag)
            throw DERError(
                "at byte \(element.whole.lowerBound): tag \(found) instead of \(hexadecimal(tag)), for \(name)"
            )
        }
        return element
    }

    /// Takes the next element if it has this tag.
    package mutating func nextIfPresent(_ tag: UInt8, in bytes: RawSpan) throws(DERError) -> DERElement? {
        guard !isAtEnd, bytes.byte(at: place) == tag else { return nil }
        return try next(in: bytes)
    }

    /// Checks that nothing is left.
    package func finish(_ name: StaticString) throws(DERError) {
        guard isAtEnd else { throw DERError("\(end - place) bytes too many at the end of \(name), at byte \(place)") }
    }

    private mutating func takeByte(in bytes: RawSpan) throws(DERError) -> UInt8 {
        guard !isAtEnd else { throw DERError("it ends at byte \(end), inside an element") }
        defer { place += 1 }
        return bytes.byte(at: place)
    }

    private mutating func takeLength(in bytes: RawSpan) throws(DERError) -> Int {
        let start = place
        let first = try takeByte(in: bytes)
        guard first & 0x80 != 0 else { return Int(first) }
        let byteCount = Int(first & 0x7F)
        guard (1...4).contains(byteCount) else { throw DERError("at byte \(start): a length that DER has not") }
        var length = 0
        for _ in 0..<byteCount { length = length << 8 | Int(try takeByte(in: bytes)) }
        let isShortest = length >= 0x80 && length >> (8 * (byteCount - 1)) != 0
        guard isShortest else { throw DERError("at byte \(start): a length that is not in its shortest form") }
        return length
    }
}

extension DERElement {
    /// Checks that the nested elements are well-formed, down to a depth that no certificate has.
    package func checkElements(in bytes: RawSpan, depth: Int = 0) throws(DERError) {
        guard depth < 32 else {
            throw DERError("at byte \(whole.lowerBound): more than 32 elements inside one another")
        }
        guard isConstructed else { return }
        var reader = DERReader(content)
        while !reader.isAtEnd { try reader.next(in: bytes).checkElements(in: bytes, depth: depth + 1) }
    }

    /// The content of an INTEGER: at least one byte, and no byte that only repeats the sign.
    package func integerBytes(in bytes: RawSpan, _ name: StaticString) throws(DERError) -> [UInt8] {
        let value = bytes.copy(content)
        let sign: UInt8? = value.first == 0 ? 0 : value.first == 0xFF ? 0x80 : nil
        guard !value.isEmpty, value.count == 1 || sign == nil || sign != value[1] & 0x80 else {
            throw DERError("at byte \(whole.lowerBound): \(name) is an integer that is not in its shortest form")
        }
        return value
    }

    /// The content of a BIT STRING, which must consist of whole bytes.
    package func bitStringBytes(in bytes: RawSpan, _ name: StaticString) throws(DERError) -> Range<Int> {
        guard let unused = content.first, bytes.byte(at: unused) == 0 else {
            throw DERError("at byte \(whole.lowerBound): \(name) is not a string of whole bytes")
        }
        return content.dropFirst().startIndex..<content.upperBound
    }

    /// An OBJECT IDENTIFIER, as numbers joined by dots.
    package func objectIdentifier(in bytes: RawSpan) throws(DERError) -> String {
        let malformed = DERError("at byte \(whole.lowerBound): an object identifier that is none")
        var numbers: [UInt64] = []
        var number: UInt64 = 0
        var isInside = false
        for byte in bytes.copy(content) {
            // A number does not begin with zeros, and no number that is used here fills 64 bits.
            guard isInside || byte != 0x80, number >> 56 == 0 else { throw malformed }
            number = number << 7 | UInt64(byte & 0x7F)
            isInside = byte & 0x80 != 0
            if !isInside {
                numbers.append(number)
                number = 0
            }
        }
        guard let front = numbers.first, !isInside else { throw malformed }
        let root = min(front / 40, 2)
        return ([root, front - root * 40] + numbers.dropFirst()).map { String($0) }.joined(separator: ".")
    }
}

extension RawSpan {
    func byte(at place: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: place, as: UInt8.self) }

    package func copy(_ range: Range<Int>) -> [UInt8] { unsafe extracting(range).withUnsafeBytes { unsafe Array($0) } }
}

private func hexadecimal(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0x0\(digits)" : "0x\(digits)"
}
