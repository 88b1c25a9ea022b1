package import CofferSystem

/// A credential that a daemon has left without an answer, or with a part of one.
package enum LeftCredential {
    /// Sends more than a service manager takes, whatever was sent before, and ends the connection: the unit does not start.
    ///
    /// One that does not read is left to what else holds it: with less than that, the end would be a credential.
    ///
    /// - Parameters:
    ///   - socket: The connection, which does not wait.
    ///   - patience: The seconds that a service manager which does not read is waited for.
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
