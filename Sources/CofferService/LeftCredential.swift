package import CofferSystem

/// A credential that an earlier daemon left unanswered, or answered in part.
package enum LeftCredential {
    /// Refuses: sends more than a service manager accepts, and ends the connection, so that the unit does not start.
    ///
    /// If the service manager does not read, only this descriptor is closed, and the connection is left to its other
    /// holder: the end of the stream before the whole refusal would make a valid credential.
    ///
    /// - Parameters:
    ///   - socket: The connection, which is non-blocking.
    ///   - patience: The seconds to wait for a service manager that does not read.
    package static func refuse(_ socket: consuming OwnedDescriptor, patience: Int = 10) {
        let bytes = CredentialRequest.refusal
        var remaining = bytes.count
        var waits = 0
        while remaining > 0, waits <= patience {
            let rest = unsafe bytes.span.bytes.extracting(droppingFirst: bytes.count - remaining)
            do throws(SystemError) {
                if let count = try socket.send(rest) {
                    remaining -= count
                    waits = 0
                } else {
                    waits += socket.waitForRoom(milliseconds: patience == 0 ? 0 : 1000) ? 0 : 1
                }
            } catch {
                return
            }
        }
        if remaining == 0 { socket.shutDown() }
    }
}
