internal import CofferCore
package import CofferMemory
internal import CSodium

/// Deriving keys.
package enum KeyDerivation {
    /// The size of a salt.
    package static let saltBytes = Int(crypto_pwhash_argon2id_SALTBYTES)
    /// The passes that are accepted from a stored keybag: a tampered one can't demand unlimited time.
    package static let acceptedOperations: ClosedRange<UInt32> = 1...16
    /// The memory that is accepted from a stored keybag, in KiB.
    package static let acceptedMemoryKiB: ClosedRange<UInt32> = (8 << 10)...(4 << 20)

    /// Argon2id of a passcode.
    ///
    /// It takes from tens of milliseconds up to seconds: not for the event loop.
    ///
    /// - Parameters:
    ///   - passcode: The passcode as it was entered.
    ///   - salt: ``saltBytes`` bytes.
    ///   - operations: Passes over the memory.
    ///   - memoryKiB: The memory, in KiB.
    /// - Returns: A key that depends on all parameters.
    /// - Throws: `noMemoryToStretch` if `memoryKiB` are not available.
    package static func passcodeKey(
        _ passcode: borrowing SecretBytes,
        salt: [UInt8],
        operations: UInt32,
        memoryKiB: UInt32
    ) throws(CryptoError) -> SymmetricKey {
        Sodium.prepare()
        precondition(salt.count == saltBytes, "a salt has \(saltBytes) bytes")
        var output = try allocateSecret(SymmetricKey.byteCount)
        let code = clearingUp {
            unsafe output.withUnsafeMutableBytes { buffer in
                unsafe buffer.withPointer { key in
                    passcode.withBytes { bytes in
                        unsafe bytes.withPointer { typed in
                            unsafe crypto_pwhash(
                                key,
                                UInt64(SymmetricKey.byteCount),
                                UnsafeRawPointer(typed).assumingMemoryBound(to: CChar.self),
                                UInt64(bytes.byteCount),
                                salt,
                                UInt64(operations),
                                Int(memoryKiB) << 10,
                                crypto_pwhash_ALG_ARGON2ID13
                            )
                        }
                    }
                }
            }
        }
        guard code == 0 else { throw .noMemoryToStretch }
        guard let key = SymmetricKey(output) else { throw .noMemory }
        return key
    }

    /// Derives a key for one purpose with keyed BLAKE2b of the purpose and of further input.
    ///
    /// - Parameters:
    ///   - key: The key to derive from.
    ///   - purpose: The purpose of the new key; proto-docs/KEYS.md lists the strings.
    ///   - input: Secret input to mix in.
    /// - Returns: The new key.
    package static func subkey(
        of key: borrowing SymmetricKey,
        for purpose: StaticString,
        mixing input: borrowing SymmetricKey? = nil
    ) throws(CryptoError) -> SymmetricKey {
        switch input {
        case .none: try KeyedHash.key(under: key, for: purpose, RawSpan(), [])
        case .some(let input): try subkey(of: key, for: purpose, mixing: input)
        }
    }

    /// Derives a key with keyed BLAKE2b of a purpose and of another key.
    ///
    /// - Parameters:
    ///   - key: The key to derive from.
    ///   - purpose: The purpose of the new key.
    ///   - input: The key to mix in.
    /// - Returns: The new key.
    package static func subkey(
        of key: borrowing SymmetricKey,
        for purpose: StaticString,
        mixing input: borrowing SymmetricKey
    ) throws(CryptoError) -> SymmetricKey {
        try input.bytes.withBytes { (bytes) throws(CryptoError) in
            try KeyedHash.key(under: key, for: purpose, bytes, [])
        }
    }
}
