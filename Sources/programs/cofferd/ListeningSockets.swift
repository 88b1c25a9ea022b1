import CSystemd
import CofferCore
import CofferService
import CofferSystem
import Glibc

/// The listening sockets: those that the service manager passed, or the daemon's own.
enum ListeningSockets {
    /// The paths to listen at, if the service manager passes no sockets.
    struct Paths {
        var clients: String?
        /// The path for requests of credentials, if there is one.
        var credentials: String?

        /// The path for clients; its directory is created.
        func clientsPath() throws -> String {
            if let clients { return clients }
            let directory = (RuntimeDirectory.own(Options.environment) ?? "/run") + "/coffer"
            do {
                _ = try Directory(makingPath: directory)
            } catch {
                throw error.cofferError("can't make \(quotedForDisplay(directory))")
            }
            return directory + "/coffer.sock"
        }
    }

    /// The name of a passed socket for clients, if it has one.
    private static let clientsName = "coffer"

    /// The name of a passed socket for requests of credentials.
    private static let credentialsName = "credentials"

    /// The peers of a passed socket; `nil` if its name is unknown.
    ///
    /// Without a name of its own, a socket has the name of its unit, or libsystemd's default, and is for clients. Other
    /// names are refused: a socket that is served for the wrong purpose would seem to work.
    private static func peers(at name: String) -> Peers? {
        if name == credentialsName { return .serviceManagers }
        return [clientsName, "unknown"].contains(name) || name.hasSuffix(".socket") ? .clients : nil
    }

    /// Takes all listening sockets.
    ///
    /// - Parameters:
    ///   - passed: The passed descriptors.
    ///   - paths: The paths that are used if no sockets were passed.
    ///   - serve: Takes ownership of each socket, with its peers.
    static func takeAll(
        _ passed: PassedDescriptors,
        _ paths: Paths,
        _ serve: (consuming OwnedDescriptor, Peers) throws -> Void
    ) throws {
        let clients = passed.sockets.filter { peers(at: $0.name) == .clients }
        if clients.isEmpty { try serve(try listen(at: try paths.clientsPath()), .clients) }
        if clients.count == passed.sockets.count, let path = paths.credentials {
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
