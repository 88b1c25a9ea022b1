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
        // Checked before, because a sign and capital letters are digits to the initializers of integers.
        let digits = hexadecimal.utf8
        guard digits.count == 2 * Self.byteCount, digits.allSatisfy("0123456789abcdef".utf8.contains),
            let high = UInt64(hexadecimal.prefix(Self.byteCount), radix: 16),
            let low = UInt64(hexadecimal.suffix(Self.byteCount), radix: 16)
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// The bytes of the identifier.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.write(self)
        return writer.bytes
    }

    /// The identifier as 32 lower-case hexadecimal digits.
    public var hexadecimal: String { CofferCore.hexadecimal(bytes) }
}

/// Bytes as lower-case hexadecimal digits.
///
/// - Parameter bytes: Any bytes that are not secret.
/// - Returns: Two digits a byte.
public func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    func digit(_ half: UInt8) -> UInt8 { half + (half < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
        digits.append(digit(byte >> 4))
        digits.append(digit(byte & 15))
    }
    return String(decoding: digits, as: UTF8.self)
}
