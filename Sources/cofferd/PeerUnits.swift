import CSystemd
import CofferCore
import CofferSystem
import Glibc

/// The units that clients belong to, as the service manager names them.
enum PeerUnits {
    /// Tells who is at the other end of a connection.
    ///
    /// - Parameters:
    ///   - socket: The connection.
    ///   - peer: Who connected, as the kernel tells.
    static func identify(_ socket: borrowing OwnedDescriptor, _ peer: PeerIdentity) -> ClientIdentity {
        let number = socket.number
        return ClientIdentity(
            userID: peer.userID,
            groupID: peer.groupID,
            unit: unsafe name { unsafe sd_peer_get_unit(number, $0) },
            userUnit: unsafe name { unsafe sd_peer_get_user_unit(number, $0) },
            executablePath: executablePath(of: peer.processID)
        )
    }

    private static func name(_ ask: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32) -> String? {
        var found: UnsafeMutablePointer<CChar>?
        defer { unsafe free(found) }
        guard unsafe ask(&found) >= 0, let found = unsafe found else { return nil }
        return unsafe String(cString: found)
    }

    private static func executablePath(of process: pid_t) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/\(process)/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
