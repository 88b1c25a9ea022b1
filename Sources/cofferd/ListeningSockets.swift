import CSystemd
import CofferCore
import CofferSystem
import Glibc

/// Where connections come from: the sockets that the service manager passed, or one of our own.
enum ListeningSockets {
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
        if passed.others.isEmpty {
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
        for number in passed.others {
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
