import CSystemd
import CofferCore
import CofferSystem
import Glibc

/// Where connections come from: the sockets that the service manager passed, or one of our own.
enum ListeningSockets {
    /// What a unit calls a socket for clients, if it gives it a name.
    private static let clientsName = "coffer"

    /// Whether a socket is one for clients: named so, or not at all.
    ///
    /// Without a name of its own it has that of its unit, or the one that libsystemd gives it. Other names are kept for other
    /// uses: a socket that is served for the wrong one would look as if it worked.
    private static func isForClients(_ name: String) -> Bool {
        [clientsName, "unknown"].contains(name) || name.hasSuffix(".socket")
    }

    /// Takes every listening socket.
    ///
    /// - Parameters:
    ///   - passed: What the service manager passed.
    ///   - options: May name a path, where nothing was passed.
    ///   - serve: Gets each socket to own.
    static func takeAll(
        _ passed: PassedDescriptors,
        _ options: Options,
        _ serve: (consuming OwnedDescriptor) throws -> Void
    ) throws {
        if passed.sockets.isEmpty {
            let path = try options.socketPath()
            do {
                try serve(try UnixSocket.listen(at: path))
            } catch let error as SystemError {
                throw CofferError(
                    .io,
                    "can't listen at \(quotedForDisplay(path)): \(error.reason)",
                    hint: error.code == EADDRINUSE ? "another cofferd listens there already" : nil
                )
            }
            return
        }
        for (number, name) in passed.sockets {
            guard isForClients(name) else {
                throw CofferError(
                    .param,
                    "nothing is known to do with the socket \(quotedForDisplay(name)) of the service manager",
                    hint: "leave out FileDescriptorName= in its unit, or give it the value '\(clientsName)'"
                )
            }
            guard sd_is_socket_unix(number, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
                throw CofferError(
                    .param,
                    "descriptor \(number) of the service manager is no listening Unix stream socket"
                )
            }
            let socket = OwnedDescriptor(owning: number)
            try UnixSocket.setNonBlocking(socket)
            try serve(socket)
        }
    }
}
