internal import CofferCore
package import CofferSystem
internal import CofferWire

extension BlockingClient {
    /// A descriptor, open for reading, of a part of the vault that the backup of this connection reads.
    ///
    /// - Parameter part: `keybag`, `anchor`, `catalog`, the id of a content, or that and `.overlay`.
    /// - Returns: The descriptor; its offset is 0.
    /// - Throws: `itemNotFound` if there is no such part; `notAvailable` if no backup is under way.
    package func backupPart(_ part: String) throws(CofferError) -> OwnedDescriptor {
        let ends: SocketEnds
        do throws(SystemError) { ends = try SocketEnds.make() } catch {
            throw error.cofferError("can't receive a part of the vault")
        }
        try call(BackupReadParameters(part: part), passing: ends.daemons.number)
        // The daemon has sent it before it answered.
        do throws(SystemError) {
            if let descriptor = try ends.receive() { return descriptor }
        } catch {
            throw error.cofferError("can't receive a part of the vault")
        }
        throw CofferError(.protocolViolation, "the daemon sent no descriptor of \(quotedForDisplay(part))")
    }
}

/// A pair of sockets over which the daemon sends a descriptor.
private final class SocketEnds {
    let daemons: OwnedDescriptor
    private let own: OwnedDescriptor

    private init(_ daemons: consuming OwnedDescriptor, _ own: consuming OwnedDescriptor) {
        self.daemons = daemons
        self.own = own
    }

    static func make() throws(SystemError) -> SocketEnds {
        try UnixSocket.pair().split { daemons, own in SocketEnds(daemons, own) }
    }

    func receive() throws(SystemError) -> OwnedDescriptor? {
        // A daemon that answers without sending must not block the client.
        try UnixSocket.setNonBlocking(own)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { unsafe buffer.deallocate() }
        guard var received = try unsafe own.receive(into: buffer) else { return nil }
        return received.takeTrustedDescriptor()
    }
}
