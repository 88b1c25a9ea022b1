package import CofferMemory

/// Writes DER into locked memory, from its end to its beginning: the length of an element is known before its header.
package struct DERWriter: ~Copyable {
    private var bytes: SecretBytes
    /// The place of the first byte that is written.
    package private(set) var place: Int

    /// Creates a writer.
    ///
    /// - Parameter capacity: The size of the result at most, in bytes; more traps.
    /// - Throws: `noMemory` if memory can't be locked.
    package init(capacity: Int) throws(CryptoError) {
        bytes = try allocateSecret(capacity)
        place = capacity
    }

    /// Writes bytes before what is written.
    package mutating func prepend(_ bytes: RawSpan) {
        place -= bytes.byteCount
        self.bytes.copy(bytes, to: place)
    }

    /// Writes bytes that are not secret before what is written.
    package mutating func prepend(_ bytes: [UInt8]) { unsafe prepend(bytes.span.bytes) }

    /// Writes the header of an element whose content is what is written before a place.
    ///
    /// - Parameters:
    ///   - tag: The tag.
    ///   - end: The ``place`` before the content was written.
    package mutating func wrap(_ tag: UInt8, until end: Int) {
        let count = end - place
        let digits = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: count >> $0) }
            .drop { $0 == 0 }
        prepend(count < 0x80 ? [tag, UInt8(count)] : [tag, 0x80 | UInt8(digits.count)] + digits)
    }

    /// Writes an INTEGER that is not negative.
    ///
    /// - Parameter digits: Its digits, with any number of zeros before them.
    package mutating func prependInteger(_ digits: RawSpan) {
        let end = place
        var first = 0
        while first < digits.byteCount - 1 && digits.byte(at: first) == 0 { first += 1 }
        prepend(digits.extracting(first..<digits.byteCount))
        if place == end || bytes.withBytes({ $0.byte(at: place) >= 0x80 }) { prepend([0]) }
        wrap(DERElement.Tag.integer, until: end)
    }

    /// What was written.
    ///
    /// - Throws: `noMemory` if memory can't be locked.
    package consuming func finish() throws(CryptoError) -> SecretBytes {
        let (start, count) = (place, bytes.count)
        do {
            return try bytes.withBytes { (all) throws(SecretMemoryError) in
                try SecretBytes(copying: all.extracting(start..<count))
            }
        } catch { throw .noMemory }
    }
}
