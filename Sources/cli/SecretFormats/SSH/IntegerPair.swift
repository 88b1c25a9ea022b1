package import CofferCore
internal import CofferCrypto

/// The two numbers of a public key of RSA, or of a signature of ECDSA: the content of each is an mpint of SSH.
package struct IntegerPair {
    package let first: [UInt8]
    package let second: [UInt8]

    /// Parses a SEQUENCE of two INTEGERs.
    ///
    /// - Throws: `protocolViolation` if it is none: only the daemon makes them.
    package init(der: [UInt8]) throws(CofferError) {
        do throws(DERError) {
            let bytes = unsafe der.span.bytes
            var outer = DERReader(0..<der.count)
            var inner = DERReader(try outer.next(DERElement.Tag.sequence, "the numbers", in: bytes).content)
            first = bytes.copy(try inner.next(DERElement.Tag.integer, "a number", in: bytes).content)
            second = bytes.copy(try inner.next(DERElement.Tag.integer, "a number", in: bytes).content)
        } catch {
            throw CofferError(.protocolViolation, "the daemon's answer is malformed: \(error.finding)")
        }
    }
}
