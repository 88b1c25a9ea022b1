internal import CofferCore
package import CofferSystem
internal import Glibc

/// Memory that outlives the daemon together with a mount: what the mount is, and the request that is being repeated.
///
/// It begins with the number of a repeated request and with how often that was begun, the number of the last exchange of two
/// names, and the file that had the first of them: eight bytes each.
package final class MountMemory {
    private static let head = 32
    package let descriptor: OwnedDescriptor

    /// Makes the memory of a mount.
    package init(_ kept: KeptMount) throws(SystemError) {
        descriptor = try AnonymousMemory("coffer-mount").released()
        let bytes = [UInt8](repeating: 0, count: Self.head) + kept.encoded
        unsafe try descriptor.write(all: bytes.span.bytes, at: 0)
    }

    /// Takes the memory that an earlier daemon has left.
    ///
    /// - Parameter descriptor: Its descriptor.
    package init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// What an earlier daemon has written; `nil` if it can't be that.
    package func contents() -> KeptMount? {
        guard let bytes = try? descriptor.content(upTo: Limits.mountMemoryBytes), bytes.count <= Limits.mountMemoryBytes
        else { return nil }
        return try? KeptMount(decoding: Array(bytes.dropFirst(Self.head)))
    }

    /// Notes that a repeated request is being begun.
    ///
    /// - Parameter unique: Its number.
    /// - Returns: Whether it may be: not if it has ended two daemons.
    package func begin(_ unique: UInt64) -> Bool {
        let (last, count) = pair(at: 0)
        note(unique, last == unique ? count &+ 1 : 1, at: 0)
        return last != unique || count < 2
    }

    /// Notes that a repeated request was answered.
    package func end() { note(0, 0, at: 0) }

    /// Notes that two names are to be exchanged: done twice, it would be undone.
    ///
    /// - Parameters:
    ///   - unique: The number of the request.
    ///   - inode: The file that has the first name.
    package func noteExchange(_ unique: UInt64, of inode: Int64) { note(unique, UInt64(bitPattern: inode), at: 16) }

    /// The file that had the first name when an exchange was begun; `nil` if another one was begun last.
    package func exchanged(_ unique: UInt64) -> Int64? {
        let (last, inode) = pair(at: 16)
        return last == unique ? Int64(bitPattern: inode) : nil
    }

    private func pair(at offset: Int64) -> (UInt64, UInt64) {
        var reader = ByteReader((try? descriptor.bytes(16, at: offset)) ?? [])
        return ((try? reader.read()) ?? 0, (try? reader.read()) ?? 0)
    }

    private func note(_ one: UInt64, _ other: UInt64, at offset: Int64) {
        var writer = ByteWriter()
        writer.write(one)
        writer.write(other)
        let bytes = writer.bytes
        unsafe try? descriptor.write(all: bytes.span.bytes, at: offset)
    }
}
