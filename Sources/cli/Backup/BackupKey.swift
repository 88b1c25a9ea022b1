package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// The recovery key of the vault that opens its backups, as it was printed or typed.
///
/// It is kept as its 36 symbols: upper case, without groups. Whether it is right, its checksum says to the daemon, and
/// the tag of the configuration to this room.
package struct BackupKey: ~Copyable, Sendable {
    /// The symbols of a recovery key.
    package static let symbolCount = 36

    let symbols: SecretBytes

    /// Takes the symbols out of a text: `-` and white space are ignored, an O is read as 0, an I or L as 1.
    ///
    /// - Throws: `param` if the number of symbols is another one.
    package init(_ text: borrowing SecretBytes) throws(CofferError) {
        var symbols: SecretBytes
        do { symbols = try SecretBytes(zeros: Self.symbolCount) } catch { throw .noSecretMemory }
        let count = text.withBytes { typed in
            unsafe symbols.withUnsafeMutableBytes { buffer in
                var count = 0
                for place in 0..<typed.byteCount {
                    let byte = unsafe typed.unsafeLoad(fromByteOffset: place, as: UInt8.self)
                    guard let symbol = Self.symbol(byte) else { continue }
                    if count < buffer.count { unsafe buffer[count] = symbol }
                    count += 1
                }
                return count
            }
        }
        guard count == Self.symbolCount else {
            throw CofferError(
                .param,
                "the recovery key was mistyped: it has \(Self.symbolCount) letters and digits, and \(count) were typed",
                hint: "compare it with what was written down, group by group"
            )
        }
        self.symbols = symbols
    }

    init(symbols: consuming SecretBytes) { self.symbols = symbols }

    /// The symbols, as a text that the daemon takes for a recovery key.
    package func text() throws(CofferError) -> SecretBytes {
        do { return try symbols.duplicate() } catch { throw .noSecretMemory }
    }

    /// The key that authenticates the configuration.
    func configurationKey() throws(CryptoError) -> SymmetricKey {
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: SymmetricKey.byteCount) } catch { throw .noMemory }
        guard let none = SymmetricKey(bytes) else { throw .noMemory }
        return try symbols.withBytes { (symbols) throws(CryptoError) in
            try KeyedHash.key(under: none, for: "coffer backup configuration v1", symbols, [])
        }
    }

    private static func symbol(_ byte: UInt8) -> UInt8? {
        if byte == UInt8(ascii: "-") || byte == 0x20 || (0x09...0x0D).contains(byte) { return nil }
        let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        let upper = isLower ? byte - 0x20 : byte
        return switch upper {
        case UInt8(ascii: "O"): UInt8(ascii: "0")
        case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
        default: upper
        }
    }
}
