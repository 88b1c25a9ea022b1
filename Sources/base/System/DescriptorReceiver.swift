/// A pair of sockets over which another process sends a descriptor.
package final class DescriptorReceiver {
    /// The end for the other process.
    package let sender: OwnedDescriptor
    private let own: OwnedDescriptor

    private init(_ sender: consuming OwnedDescriptor, _ own: consuming OwnedDescriptor) {
        self.sender = sender
        self.own = own
    }

    /// Makes the sockets.
    package static func make() throws(SystemError) -> DescriptorReceiver {
        try UnixSocket.pair().split { own, sender in DescriptorReceiver(sender, own) }
    }

    /// Receives what the other process has sent, without waiting: with one byte, a descriptor.
    ///
    /// - Returns: `nil` if nothing was sent.
    package func receive() throws(SystemError) -> OwnedDescriptor? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { unsafe buffer.deallocate() }
        guard var received = try unsafe own.receive(into: buffer) else { return nil }
        return received.takeTrustedDescriptor()
    }
}
