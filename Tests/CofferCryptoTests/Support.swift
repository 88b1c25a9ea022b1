import CofferMemory
import Testing

extension SecretBytes {
    init(_ bytes: [UInt8]) throws(SecretMemoryError) { try self.init(copying: bytes.span.bytes) }

    init(_ text: String) throws(SecretMemoryError) { try self.init(Array(text.utf8)) }
}

extension SymmetricKey {
    /// A key of known bytes.
    static func known(_ bytes: some Sequence<UInt8>) throws -> SymmetricKey {
        guard let key = SymmetricKey(try SecretBytes(Array(bytes))) else { throw NotAKey() }
        return key
    }

    /// The key of the bytes 0, 1, 2, ….
    static func counting() throws -> SymmetricKey { try known(0..<32) }

    struct NotAKey: Error {}
}

func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = Array(hexadecimal.utf8.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: " ") })
    return stride(from: 0, to: digits.count, by: 2).compactMap { place in
        UInt8(String(decoding: digits[place...(place + 1)], as: UTF8.self), radix: 16)
    }
}
