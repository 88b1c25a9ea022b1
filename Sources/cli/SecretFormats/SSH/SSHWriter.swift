/// Writes the data types of RFC 4251, section 5; nothing of it is secret.
package struct SSHWriter {
    package private(set) var bytes: [UInt8] = []

    /// Continues after bytes.
    package init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    package mutating func number(_ number: Int) {
        bytes += stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    package mutating func string(_ content: some Collection<UInt8>) {
        number(content.count)
        bytes += content
    }

    package mutating func string(_ text: String) { string(text.utf8) }
}
