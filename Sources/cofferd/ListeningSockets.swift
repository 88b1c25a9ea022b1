import CSystemd
import CofferCore
import CofferService
import CofferSystem
import Glibc

/// Where connections come from: the sockets that the service manager passed, or one of our own.
enum ListeningSockets {
    /// What a unit calls a socket for clients, if it gives it a name.
    private static let clientsName = "coffer"

    /// What it calls one that service managers ask at for credentials.
    private static let credentialsName = "credentials"

    /// Who connects to a socket; `nil` where that is not known.
    ///
    /// Without a name of its own it has that of its unit, or the one that libsystemd gives it, and is one for clients. Other
    /// names are kept for other uses: a socket that is served for the wrong one would look as if it worked.
    private static func peers(at name: String) -> Peers? {
        if name == credentialsName { return .serviceManagers }
        return [clientsName, "unknown"].contains(name) || name.hasSuffix(".socket") ? .clients : nil
    }

    /// Takes every listening socket.
    ///
    /// - Parameters:
    ///   - passed: What the service manager passed.
    ///   - options: May name paths, where nothing was passed.
    ///   - serve: Gets each socket to own, and who connects to it.
    static func takeAll(
        _ passed: PassedDescriptors,
        _ options: Options,
        _ serve: (consuming OwnedDescriptor, Peers) throws -> Void
    ) throws {
        let clients = passed.sockets.filter { peers(at: $0.name) == .clients }
        if clients.isEmpty { try serve(try listen(at: try options.socketPath()), .clients) }
        if clients.count == passed.sockets.count, let path = options.credentialSocket {
            try serve(try listen(at: path), .serviceManagers)
        }
        for (number, name) in passed.sockets {
            guard let peers = peers(at: name) else {
                throw CofferError(
                    .param,
                    "nothing is known to do with the socket \(quotedForDisplay(name)) of the service manager",
                    hint: "leave out FileDescriptorName= in its unit, or give it the value '\(clientsName)'"
                )
            }
            try serve(try take(number), peers)
        }
    }

    private static func listen(at path: String) throws(CofferError) -> OwnedDescriptor {
        do {
            return try UnixSocket.listen(at: path)
        } catch {
            throw CofferError(
                .io,
                "can't listen at \(quotedForDisplay(path)): \(error.reason)",
                hint: error.code == EADDRINUSE ? "another cofferd listens there already" : nil
            )
        }
    }

    private static func take(_ number: Int32) throws -> OwnedDescriptor {
        guard sd_is_socket_unix(number, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
            throw CofferError(.param, "descriptor \(number) of the service manager is no listening Unix stream socket")
        }
        let socket = OwnedDescriptor(owning: number)
        try UnixSocket.setNonBlocking(socket)
        return socket
    }
}
