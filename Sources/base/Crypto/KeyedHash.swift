internal import CofferCore
package import CofferMemory
internal import CSodium

/// Keyed BLAKE2b over a purpose and further fields, each after its length, so that no two lists of fields collide.
package enum KeyedHash {
    /// A tag that reveals nothing about the fields without the key.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - purpose: The purpose of the tag: tags for different purposes are unrelated.
    ///   - byteCount: The size of the tag, 16 to 64.
    ///   - fields: The hashed fields. They pass through ordinary memory: no secrets.
    package static func tag(
        under key: borrowing SymmetricKey,
        for purpose: StaticString,
        byteCount: Int,
        _ fields: [UInt8]...
    ) -> [UInt8] {
        tag(under: key, for: purpose, byteCount: byteCount) { message in
            for field in fields { unsafe message.append(field.span.bytes) }
        }
    }

    /// A tag of fields that are in no arrays of their own.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - purpose: The purpose of the tag.
    ///   - byteCount: The size of the tag, 16 to 64.
    ///   - write: Appends the fields.
    package static func tag(
        under key: borrowing SymmetricKey,
        for purpose: StaticString,
        byteCount: Int,
        of write: (inout Fields) throws -> Void
    ) rethrows -> [UInt8] {
        var message = Fields(purpose)
        try write(&message)
        var output = [UInt8](repeating: 0, count: byteCount)
        unsafe output.withUnsafeMutableBytes { unsafe hash(message.writer.bytes.span.bytes, under: key, into: $0) }
        return output
    }

    /// The fields of a tag, each after its length.
    package struct Fields {
        /// Enough for most: a name and a secret of usual lengths.
        private static let usualBytes = 256

        fileprivate var writer = ByteWriter(capacity: usualBytes)

        fileprivate init(_ purpose: StaticString) {
            writer.write(UInt16(purpose.utf8CodeUnitCount + 1))
            writer.write(purpose)
        }

        /// Appends bytes.
        package mutating func append(_ bytes: RawSpan) {
            writer.write(UInt32(bytes.byteCount))
            writer.write(raw: bytes)
        }

        /// Appends the UTF-8 of a text.
        package mutating func append(_ text: String) {
            let utf8 = text.utf8
            append(unsafe utf8.span.bytes)
        }
    }

    /// Derives a key for one purpose.
    ///
    /// - Parameters:
    ///   - key: The key to derive from.
    ///   - purpose: The purpose of the new key.
    ///   - input: Further secret input; empty for none.
    ///   - publicInput: Further input that is not secret.
    /// - Returns: The new key.
    package static func key(
        under key: borrowing SymmetricKey,
        for purpose: StaticString,
        _ input: RawSpan,
        _ publicInput: [UInt8]
    ) throws(CryptoError) -> SymmetricKey {
        var writer = ByteWriter()
        writer.write(purpose)
        writer.write(raw: publicInput)
        let front = writer.bytes
        var message = try allocateSecret(front.count + input.byteCount)
        unsafe message.copy(front.span.bytes, to: 0)
        message.copy(input, to: front.count)
        var output = try allocateSecret(SymmetricKey.byteCount)
        unsafe output.withUnsafeMutableBytes { buffer in
            message.withBytes { bytes in unsafe hash(bytes, under: key, into: buffer) }
        }
        guard let derived = SymmetricKey(output) else { throw .noMemory }
        return derived
    }

    /// The keyed hash of bytes of any number, for a key that hashes nothing else.
    ///
    /// - Parameters:
    ///   - message: The bytes, which are not copied.
    ///   - key: The key.
    ///   - byteCount: The size of the hash, 16 to 64.
    package static func hash(of message: RawSpan, under key: borrowing SymmetricKey, byteCount: Int) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: byteCount)
        unsafe output.withUnsafeMutableBytes { unsafe hash(message, under: key, into: $0) }
        return output
    }

    private static func hash(
        _ message: RawSpan,
        under key: borrowing SymmetricKey,
        into output: UnsafeMutableRawBufferPointer
    ) {
        Sodium.prepare()
        let code = unsafe output.withPointer { result in
            unsafe message.withPointer { bytes in
                unsafe key.withPointer { rawKey in
                    unsafe crypto_generichash(
                        result,
                        output.count,
                        bytes,
                        UInt64(message.byteCount),
                        rawKey,
                        SymmetricKey.byteCount
                    )
                }
            }
        }
        precondition(code == 0, "the lengths are constants of this project")
    }
}

extension ByteWriter {
    /// Appends a purpose, and a NUL, which none contains: no purpose is a prefix of another.
    fileprivate mutating func write(_ purpose: StaticString) {
        write(raw: purpose)
        write(UInt8(0))
    }
}

/// Compares two tags in a time that depends only on their lengths.
package func isEqualInConstantTime(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return unsafe sodium_memcmp(one, other, one.count) == 0
}

/// Random bytes that are not secret, such as a salt.
package func randomBytes(_ count: Int) -> [UInt8] {
    Sodium.prepare()
    var bytes = [UInt8](repeating: 0, count: count)
    unsafe randombytes_buf(&bytes, count)
    return bytes
}
