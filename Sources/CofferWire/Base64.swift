/// Bytes as text: base64 of RFC 4648, section 4, padded, in its one canonical form.
///
/// It is for JSON, and not for secrets: its time depends on the bytes.
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// The place of each byte in the alphabet.
    private static let values = (0...UInt8.max).map { byte in alphabet.firstIndex(of: byte).map { UInt32($0) } }
    private static let padding = UInt8(ascii: "=")

    /// Encodes bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(0) { $0 << 8 | UInt32($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? alphabet[Int(word >> (18 - 6 * place) & 63)] : padding)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text.
    ///
    /// - Returns: The bytes; `nil` for anything that ``encode(_:)`` does not produce: another alphabet, white space,
    ///   missing or excess padding, unused bits that are set.
    package static func decode(_ text: String) -> [UInt8]? {
        let symbols = Array(text.utf8)
        guard symbols.count.isMultiple(of: 4) else { return nil }
        let padCount = symbols.suffix(2).reversed().prefix { $0 == padding }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(symbols.count / 4 * 3)
        var (word, bitCount): (UInt32, UInt32) = (0, 0)
        for symbol in symbols.dropLast(padCount) {
            guard let value = values[Int(symbol)] else { return nil }
            word = word << 6 | value
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> bitCount))
            }
        }
        let unused = word & (1 << bitCount - 1)
        return unused == 0 ? bytes : nil
    }

    /// The six bits of a symbol; `nil` if it is none.
    package static func value(of symbol: UInt8) -> UInt32? { values[Int(symbol)] }
}
