/// A random 128-bit identifier of an item, a file's content or a vault.
public struct ItemID: Hashable, Sendable {
    @usableFromInline let high: UInt64
    @usableFromInline let low: UInt64

    /// The size of an identifier.
    public static let byteCount = 16

    /// Creates a random identifier.
    public init() {
        var source = SystemRandomNumberGenerator()
        high = source.next()
        low = source.next()
    }

    /// Creates an identifier from sixteen bytes; `nil` for any other number.
    @inlinable
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var words: (high: UInt64, low: UInt64) = (0, 0)
        for byte in bytes { words = (words.high << 8 | words.low >> 56, words.low << 8 | UInt64(byte)) }
        (high, low) = words
    }

    /// Parses an identifier from the digits of ``hexadecimal``; `nil` for anything else.
    public init?(hexadecimal: String) {
        let text = hexadecimal.utf8
        guard text.count == 2 * Self.byteCount else { return nil }
        let digits = text.span
        var words: (high: UInt64, low: UInt64) = (0, 0)
        for index in digits.indices {
            // Not by the initializers of integers, to which a sign and capital letters are digits.
            let half: UInt8
            switch digits[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): half = digits[index] - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): half = digits[index] - UInt8(ascii: "a") + 10
            default: return nil
            }
            words = (words.high << 4 | words.low >> 60, words.low << 4 | UInt64(half))
        }
        (high, low) = words
    }

    /// The bytes of the identifier.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(self)
        return writer.bytes
    }

    /// The identifier as 32 lower-case hexadecimal digits.
    public var hexadecimal: String {
        // In place: each row of a listing has one.
        unsafe String(unsafeUninitializedCapacity: 2 * Self.byteCount) { text in
            for index in 0..<Self.byteCount {
                let half = UInt8(truncatingIfNeeded: high >> (60 - 4 * index)) & 15
                let otherHalf = UInt8(truncatingIfNeeded: low >> (60 - 4 * index)) & 15
                unsafe text[index] = digit(half)
                unsafe text[Self.byteCount + index] = digit(otherHalf)
            }
            return 2 * Self.byteCount
        }
    }
}

/// The digit of half a byte.
@usableFromInline func digit(_ half: UInt8) -> UInt8 {
    half + (half < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
}

/// Bytes as lower-case hexadecimal digits.
///
/// - Parameter bytes: Any bytes that are not secret.
/// - Returns: Two digits a byte.
@inlinable public func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
        digits.append(digit(byte >> 4))
        digits.append(digit(byte & 15))
    }
    return String(decoding: digits, as: UTF8.self)
}
