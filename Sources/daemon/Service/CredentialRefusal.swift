internal import CofferCore
package import CofferSystem

/// The refusal of a credential: more bytes than a service manager accepts.
///
/// Closing the connection would be an empty credential, and the unit would start with it. A service manager only fails
/// for a credential that is too large.
package struct CredentialRefusal {
    private var sentCount = 0

    /// The bytes are words, in case they appear in a log.
    private static let bytes: [UInt8] = {
        let line = Array("cofferd has refused this credential, and says why in its journal\n".utf8)
        return (0...Limits.credentialBytes / line.count).flatMap { _ in line }
    }()

    var isSent: Bool { sentCount == Self.bytes.count }

    /// Sends as much as the socket accepts.
    mutating func send(to socket: borrowing OwnedDescriptor) throws(SystemError) {
        let bytes = Self.bytes
        while !isSent {
            let rest = unsafe bytes.span.bytes.extracting(droppingFirst: sentCount)
            guard let count = try socket.send(rest) else { return }
            sentCount += count
        }
    }

    /// Refuses a credential that an earlier daemon left unanswered or answered in part, or this one at its end.
    ///
    /// If the service manager does not read, the connection is left to its other holder: the end of the stream before
    /// the whole refusal would make a valid credential.
    ///
    /// - Parameters:
    ///   - socket: The connection, which is non-blocking.
    ///   - patience: The seconds to wait for a service manager that does not read.
    package static func send(to socket: borrowing OwnedDescriptor, patience: Int = 10) {
        var refusal = CredentialRefusal()
        var waits = 0
        do throws(SystemError) {
            try refusal.send(to: socket)
            while !refusal.isSent && waits < patience {
                waits = socket.waitForRoom(milliseconds: 1000) ? 0 : waits + 1
                try refusal.send(to: socket)
            }
        } catch {
            return
        }
        if refusal.isSent { socket.shutDown() }
    }
}
