// Texts of clients are the same only if their bytes are. Swift's `==` also equates what is canonically equivalent in
// Unicode: "é" as one code point, and as two.

extension String {
    /// Copies UTF-8; `nil` if it is not well-formed.
    ///
    /// Not by `init(validating:as:)`, which looks up metadata of generic types at each call.
    package init?(checking bytes: Span<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes) else { return nil }
        self.init(copying: text)
    }

    /// Whether both are the same UTF-8 bytes, which is stricter than `==`.
    package func hasSameBytes(as other: String) -> Bool {
        if utf8.count != other.utf8.count { return false }
        // Not by spans of both, for which they are retained.
        let isSame = unsafe utf8.withContiguousStorageIfAvailable { own in
            unsafe other.utf8.withContiguousStorageIfAvailable { others in
                unsafe Span(_unsafeElements: own).firstDifference(from: Span(_unsafeElements: others)) == own.count
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// A hash of the UTF-8, eight bytes at a time and without a secret: for texts whose collisions do no harm.
    package var plainHash: UInt64 {
        let text = utf8
        let bytes = unsafe text.span.bytes
        var hash = UInt64(truncatingIfNeeded: bytes.byteCount)
        var index = 0
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
            hash ^= hash >> 32
        }
        while index + 8 <= bytes.byteCount {
            mix(unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        while index < bytes.byteCount {
            mix(UInt64(unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)))
            index += 1
        }
        return hash
    }

    /// Whether the UTF-8 comes before that of another text, byte by byte.
    ///
    /// Not by `lexicographicallyPrecedes`, which takes several times as long.
    package func precedes(bytesOf other: String) -> Bool {
        let (own, others) = (utf8, other.utf8)
        let (one, two) = (own.span, others.span)
        let index = one.firstDifference(from: two)
        return index < min(one.count, two.count) ? one[index] < two[index] : one.count < two.count
    }

    /// The offset of the last of such bytes in the UTF-8; `nil` if there is none.
    ///
    /// Not by `lastIndex(of:)` of `utf8`, which takes several times as long.
    package func lastOffset(ofByte wanted: UInt8) -> Int? {
        let text = utf8
        let bytes = text.span
        return bytes.indices.last { bytes[$0] == wanted }
    }

    /// Whether the UTF-8 of a text occurs in that of this one.
    ///
    /// Not by the standard library, whose general search takes longer than all else that a scan does with an item.
    package func containsBytes(of part: String) -> Bool {
        let (own, wanted) = (utf8, part.utf8)
        let (text, word) = (own.span, wanted.span)
        if word.count > text.count { return false }
        return (0...(text.count - word.count)).contains { start in
            word.indices.allSatisfy { text[start + $0] == word[$0] }
        }
    }
}

extension Span<UInt8> {
    /// The first index at which both differ; the smaller count, if one begins with the other.
    fileprivate func firstDifference(from other: Span<UInt8>) -> Int {
        let common = Swift.min(count, other.count)
        let (one, two) = unsafe (bytes, other.bytes)
        var index = 0
        // Eight bytes at a time.
        while index + 8 <= common,
            unsafe one.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
                == two.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
        {
            index += 8
        }
        while index < common, self[index] == other[index] { index += 1 }
        return index
    }
}

/// The name of a user-defined attribute: equal to another one, and ordered, as bytes.
public struct AttributeName: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name.
    public let text: String

    /// Creates a name from a text.
    public init(_ text: String) { self.text = text }

    /// Creates a name from a literal.
    public init(stringLiteral text: String) { self.init(text) }

    /// The name itself.
    public var description: String { text }

    /// Whether the bytes are the same.
    public static func == (one: AttributeName, other: AttributeName) -> Bool { one.text.hasSameBytes(as: other.text) }

    /// Compares the bytes.
    public static func < (one: AttributeName, other: AttributeName) -> Bool {
        one.text.precedes(bytesOf: other.text)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

extension AttributeValue {
    /// Whether form and content are the same; texts are compared as bytes.
    public static func == (one: AttributeValue, other: AttributeValue) -> Bool {
        switch (one, other) {
        case (.text(let one), .text(let other)): one.hasSameBytes(as: other)
        case (.integer(let one), .integer(let other)), (.date(let one), .date(let other)): one == other
        case (.bool(let one), .bool(let other)): one == other
        case (.bytes(let one), .bytes(let other)): one == other
        default: false
        }
    }

    /// Hashes the content; of a text, its bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .integer(let number), .date(let number): hasher.combine(number)
        case .bool(let flag): hasher.combine(flag)
        case .bytes(let bytes): hasher.combine(bytes)
        }
    }
}
