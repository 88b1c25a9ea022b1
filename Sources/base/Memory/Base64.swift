internal import CSodium

/// Bytes as text: base64 of RFC 4648, section 4, padded, in its one canonical form.
///
/// It is libsodium's, whose time depends on the number of bytes and not on their values.
package enum Base64 {
    /// A text is not decoded.
    package enum DecodingError: Error, Equatable {
        /// It is another form: another alphabet, white space, missing or excess padding, or unused bits that are set. The
        /// place is that of the first character that does not belong; the number of characters if one is missing.
        case malformed(place: Int)
        /// There is no locked memory for the bytes.
        case noMemory
    }

    private static let variant = sodium_base64_VARIANT_ORIGINAL

    /// Encodes bytes that are not secret.
    package static func encode(_ bytes: [UInt8]) -> String {
        unsafe String(unsafeUninitializedCapacity: textCapacity(bytes.count)) { output in
            unsafe encode(bytes.span.bytes, into: UnsafeMutableRawBufferPointer(output))
        }
    }

    /// Encodes secret bytes.
    ///
    /// - Throws: ``SecretMemoryError`` if the memory of the text can't be locked.
    package static func encode(_ bytes: RawSpan) throws(SecretMemoryError) -> SecretBytes {
        var text = try SecretBytes(zeros: textCapacity(bytes.byteCount))
        let count = unsafe text.withUnsafeMutableBytes { unsafe encode(bytes, into: $0) }
        text.truncate(to: count)
        return text
    }

    /// Decodes a text that is not secret.
    ///
    /// - Returns: The bytes; `nil` for anything that ``encode(_:)`` does not produce.
    package static func decode(_ text: String) -> [UInt8]? {
        let symbols = Array(text.utf8)
        var isDecoded = true
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: byteCapacity(symbols.count)) { output, count in
            switch unsafe decode(symbols.span.bytes, into: UnsafeMutableRawBufferPointer(output)) {
            case .success(let decoded): count = decoded
            case .failure: isDecoded = false
            }
        }
        return isDecoded ? bytes : nil
    }

    /// Decodes a secret text.
    package static func decode(_ text: RawSpan) throws(DecodingError) -> SecretBytes {
        var bytes: SecretBytes
        do { bytes = try SecretBytes(zeros: byteCapacity(text.byteCount)) } catch { throw .noMemory }
        let count = try unsafe bytes.withUnsafeMutableBytes { unsafe decode(text, into: $0) }.get()
        bytes.truncate(to: count)
        return bytes
    }

    /// The bytes that a text takes, with the NUL that C ends it with.
    private static func textCapacity(_ count: Int) -> Int { sodium_base64_encoded_len(count, variant) }

    private static func byteCapacity(_ count: Int) -> Int { (count + 3) / 4 * 3 }

    /// - Returns: The number of characters, without the NUL.
    private static func encode(_ bytes: RawSpan, into output: UnsafeMutableRawBufferPointer) -> Int {
        unsafe bytes.withUnsafeBytes { input in
            guard let text = unsafe output.assumingMemoryBound(to: CChar.self).baseAddress,
                let start = unsafe input.assumingMemoryBound(to: UInt8.self).baseAddress
            else { return 0 }
            _ = unsafe sodium_bin2base64(text, output.count, start, input.count, variant)
            return textCapacity(input.count) - 1
        }
    }

    /// - Returns: The number of bytes.
    private static func decode(
        _ text: RawSpan,
        into output: UnsafeMutableRawBufferPointer
    ) -> Result<Int, DecodingError> {
        unsafe text.withUnsafeBytes { input in
            guard let bytes = unsafe output.assumingMemoryBound(to: UInt8.self).baseAddress,
                let start = unsafe input.assumingMemoryBound(to: CChar.self).baseAddress
            else { return text.byteCount == 0 ? .success(0) : .failure(.malformed(place: 0)) }
            var count = 0
            var end: UnsafePointer<CChar>?
            let status = unsafe sodium_base642bin(
                bytes,
                output.count,
                start,
                input.count,
                nil,
                &count,
                &end,
                variant
            )
            let place = unsafe end.map { unsafe $0 - start } ?? 0
            return status == 0 && place == input.count ? .success(count) : .failure(.malformed(place: place))
        }
    }
}
