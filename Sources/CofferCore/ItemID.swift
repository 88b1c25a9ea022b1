/// A random 128-bit identifier of an item, a file's content or a vault.
public struct ItemID: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// The bytes of an identifier.
    public static let byteCount = 16

    /// Makes a new one, from the kernel's random numbers.
    public init() {
        var source = SystemRandomNumberGenerator()
        high = source.next()
        low = source.next()
    }

    /// Reads one from its bytes.
    ///
    /// - Parameter bytes: Exactly sixteen bytes; any other number gives `nil`.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads one from its digits.
    ///
    /// - Parameter hexadecimal: What ``hexadecimal`` gave; anything else gives `nil`.
    public init?(hexadecimal: String) {
        let digits = Array(hexadecimal.utf8)
        let alphabet = Array("0123456789abcdef".utf8)
        guard digits.count == 2 * Self.byteCount, digits.allSatisfy(alphabet.contains) else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { place in
            UInt8(String(decoding: digits[place...(place + 1)], as: UTF8.self), radix: 16)
        }
        self.init(bytes.compactMap { $0 })
    }

    /// The sixteen bytes.
    public var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// The identifier as 32 lower-case hexadecimal digits.
    public var hexadecimal: String { CofferCore.hexadecimal(bytes) }
}

/// Bytes as lower-case hexadecimal digits.
///
/// - Parameter bytes: Any bytes that are not secret.
/// - Returns: Two digits a byte.
public func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".unicodeScalars)
    var text = String.UnicodeScalarView()
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(text)
}
