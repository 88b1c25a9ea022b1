package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// A random key that the owner keeps on paper: it opens the keybag without the passcode and without the device key.
///
/// As text it is 36 symbols of Crockford's base32 in groups of four: 160 random bits, and a checksum of 20 bits that
/// distinguishes a typing error from a wrong key.
package struct RecoveryKey: ~Copyable, Sendable {
    private static let randomBytes = 20
    private static let symbolBits = 5
    private static let keySymbols = randomBytes * 8 / symbolBits
    private static let checkSymbols = 4
    private static let groupSymbols = 4
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The size of the text, with a `-` between the groups.
    package static let textBytes = (keySymbols + checkSymbols) * (groupSymbols + 1) / groupSymbols - 1

    /// The random bytes, padded with zeros to the size of a key.
    private let root: SymmetricKey

    /// Creates a random recovery key.
    init() throws(CryptoError) {
        do {
            var bytes = try SecretBytes(random: SymmetricKey.byteCount)
            unsafe bytes.withUnsafeMutableBytes { buffer in
                for index in Self.randomBytes..<buffer.count { unsafe buffer[index] = 0 }
            }
            guard let root = SymmetricKey(bytes) else { throw CryptoError.noMemory }
            self.root = root
        } catch {
            throw .noMemory
        }
    }

    /// Parses a key as it was typed: case, `-` and white space are ignored, an O is read as 0, an I or L as 1.
    ///
    /// - Throws: `param` if it was mistyped.
    package init(_ text: borrowing SecretBytes) throws(CofferError) {
        var symbols = try Self.secretMemory(Self.keySymbols + Self.checkSymbols)
        var bytes = try Self.secretMemory(SymmetricKey.byteCount)
        let count = try text.withBytes { (typed) throws(CofferError) in
            unsafe try symbols.withUnsafeMutableBytes { (buffer) throws(CofferError) in
                unsafe try Self.readSymbols(typed, into: buffer)
            }
        }
        guard count == symbols.count else {
            throw .mistypedRecoveryKey("it has \(symbols.count) letters and digits, and \(count) were typed")
        }
        symbols.withBytes { values in
            unsafe bytes.withUnsafeMutableBytes { buffer in
                for index in 0..<(Self.randomBytes * 8) {
                    let value = unsafe values.unsafeLoad(fromByteOffset: index / Self.symbolBits, as: UInt8.self)
                    let bit = value >> (Self.symbolBits - 1 - index % Self.symbolBits) & 1
                    unsafe buffer[index / 8] |= bit << (7 - index % 8)
                }
            }
        }
        guard let root = SymmetricKey(bytes) else { throw .noSecretMemory }
        let check = Self.checkSymbols(of: root)
        let isRight = symbols.withBytes { values in
            (0..<Self.checkSymbols).allSatisfy { index in
                unsafe values.unsafeLoad(fromByteOffset: Self.keySymbols + index, as: UInt8.self) == check[index]
            }
        }
        guard isRight else { throw .mistypedRecoveryKey("its last group does not fit the others") }
        self.root = root
    }

    /// The text to print, once.
    package func text() throws(SecretMemoryError) -> SecretBytes {
        var text = try SecretBytes(zeros: Self.textBytes)
        let check = Self.checkSymbols(of: root)
        root.bytes.withBytes { bytes in
            unsafe text.withUnsafeMutableBytes { buffer in
                for symbol in 0..<(Self.keySymbols + Self.checkSymbols) {
                    let group = symbol / Self.groupSymbols
                    let value =
                        symbol < Self.keySymbols
                        ? Self.symbol(symbol, of: bytes) : check[symbol - Self.keySymbols]
                    unsafe buffer[symbol + group] = Self.alphabet[Int(value)]
                    if symbol % Self.groupSymbols == 0 && group > 0 {
                        unsafe buffer[symbol + group - 1] = UInt8(ascii: "-")
                    }
                }
            }
        }
        return text
    }

    /// The X25519 private key for the public key of a keyslot.
    func privateKey() throws(CryptoError) -> SymmetricKey {
        try KeyDerivation.subkey(of: root, for: "coffer recovery key v1")
    }

    private static func secretMemory(_ count: Int) throws(CofferError) -> SecretBytes {
        do { return try SecretBytes(zeros: count) } catch { throw .noSecretMemory }
    }

    // MARK: Symbols

    private static func symbol(_ index: Int, of bytes: RawSpan) -> UInt8 {
        (0..<symbolBits).reduce(0) { value, offset in
            let bit = index * symbolBits + offset
            let byte = unsafe bytes.unsafeLoad(fromByteOffset: bit / 8, as: UInt8.self)
            return value << 1 | byte >> (7 - bit % 8) & 1
        }
    }

    private static func checkSymbols(of root: borrowing SymmetricKey) -> [UInt8] {
        let tag = KeyedHash.tag(under: root, for: "coffer recovery key checksum v1", byteCount: 16)
        return (0..<checkSymbols).map { unsafe symbol($0, of: tag.span.bytes) }
    }

    /// - Returns: The number of typed symbols, even if there are too many.
    private static func readSymbols(
        _ typed: RawSpan,
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(CofferError) -> Int {
        var count = 0
        for offset in typed.textStart..<typed.byteCount {
            let byte = unsafe typed.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            if byte == UInt8(ascii: "-") || byte == 0x20 || (0x09...0x0D).contains(byte) { continue }
            guard let value = value(of: byte) else {
                throw .mistypedRecoveryKey("a character in it is neither a letter of its alphabet nor a digit")
            }
            if count < buffer.count { unsafe buffer[count] = value }
            count += 1
        }
        return count
    }

    private static func value(of byte: UInt8) -> UInt8? {
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        let upper = isLetter ? byte - 0x20 : byte
        return switch upper {
        case UInt8(ascii: "O"): 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): 1
        default: alphabet.firstIndex(of: upper).map { UInt8($0) }
        }
    }
}

extension CofferError {
    /// The error must not reveal anything that was typed.
    fileprivate static func mistypedRecoveryKey(_ finding: String) -> CofferError {
        CofferError(
            .param,
            "the recovery key was mistyped: \(finding)",
            hint: "compare it with what was written down, group by group"
        )
    }
}
