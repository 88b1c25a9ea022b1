package import CofferClient
package import CofferMemory
internal import Glibc

/// The lines of an input, one after another, in locked memory.
///
/// Of a line that is longer than the bound only the beginning is kept, and the rest is skipped as it comes: the memory
/// does not grow with what is sent.
package struct CredentialLines: ~Copyable {
    /// A line.
    package struct InputLine {
        /// The line without its end; of a line that is too long the beginning.
        package let content: Secret
        /// Whether the rest of it was skipped.
        package let isCut: Bool
    }

    /// The longest line; a secret of the keychain is not longer.
    package static let maximumBytes = Limits.secretBytes

    /// Reads into a buffer from a place on, and returns the number of bytes; 0 at the end of the input.
    package typealias Source = (_ buffer: inout SecretBytes, _ place: Int) throws(CofferError) -> Int

    private let source: Source
    private var buffer: SecretBytes
    /// The number of bytes in the buffer that are not yet given.
    private var filled = 0
    private var isAtEnd = false

    package init(reading source: @escaping Source) throws(CofferError) {
        self.source = source
        do { buffer = try SecretBytes(zeros: Self.maximumBytes + 1) } catch { throw .noSecretMemory }
    }

    /// Reads a line.
    ///
    /// - Returns: `nil` at the end.
    package mutating func next() throws(CofferError) -> InputLine? {
        if let end = try findEnd() { return InputLine(content: try take(end, andItsEnd: true), isCut: false) }
        // The last line need not have an end.
        if isAtEnd { return filled == 0 ? nil : InputLine(content: try take(filled), isCut: false) }
        let beginning = try take(filled)
        while true {
            let end = try findEnd()
            _ = try take(end ?? filled, andItsEnd: end != nil)
            if end != nil || isAtEnd { return InputLine(content: beginning, isCut: true) }
        }
    }

    /// Fills the buffer until it has the end of a line.
    ///
    /// - Returns: `nil` if the buffer is full or the input has ended before.
    private mutating func findEnd() throws(CofferError) -> Int? {
        var seen = 0
        while true {
            let (start, count) = (seen, filled)
            let end = buffer.withBytes { bytes in (start..<count).first { bytes.byte(at: $0) == 10 } }
            if end != nil || isAtEnd || filled == buffer.count { return end }
            seen = filled
            try fill()
        }
    }

    private mutating func fill() throws(CofferError) {
        let count = try source(&buffer, filled)
        filled += count
        isAtEnd = count == 0
    }

    /// Takes bytes from the beginning of the buffer.
    private mutating func take(_ count: Int, andItsEnd hasEnd: Bool = false) throws(CofferError) -> Secret {
        let taken = try buffer.withBytes { (bytes) throws(CofferError) in
            try Secret(copying: bytes.extracting(0..<count))
        }
        let gone = count + (hasEnd ? 1 : 0)
        let rest = filled - gone
        unsafe buffer.withUnsafeMutableBytes { memory in
            guard let start = memory.baseAddress else { return }
            unsafe memmove(start, start + gone, rest)
        }
        filled = rest
        return taken
    }
}
