import Foundation

/// Bytes that the possible states of a vault share.
final class Content: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    static let empty = Content([])

    var count: Int { bytes.count }

    /// The size and the first bytes.
    var description: String {
        "\(count) B"
            + (bytes.isEmpty ? "" : " \(bytes.prefix(3).map { String($0, radix: 16) }.joined(separator: " "))…")
    }

    static func == (one: Content, other: Content) -> Bool { one === other || one.holds(other.bytes, from: 0) }

    // The contents differ in their first bytes.
    func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(bytes.first)
        hasher.combine(bytes.last)
    }

    /// Whether these are exactly its bytes from an offset on.
    func holds(_ part: [UInt8], from offset: Int) -> Bool {
        guard max(0, count - offset) == part.count else { return false }
        if part.isEmpty { return true }
        return bytes.withUnsafeBytes { own in
            part.withUnsafeBytes { other in
                guard let place = own.baseAddress, let wanted = other.baseAddress else { return part.isEmpty }
                return memcmp(place + offset, wanted, part.count) == 0
            }
        }
    }

    /// The content after a write.
    func writing(_ part: Content, at offset: Int) -> Content {
        if part.count == 0 { return self }
        var all = bytes + [UInt8](repeating: 0, count: max(0, offset + part.count - count))
        all.replaceSubrange(offset..<(offset + part.count), with: part.bytes)
        return Content(all)
    }

    /// The content after a change of its size.
    func resized(to length: Int) -> Content {
        Content(Array(bytes.prefix(length)) + [UInt8](repeating: 0, count: max(0, length - count)))
    }
}
