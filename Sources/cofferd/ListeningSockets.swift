import CSystemd
import CofferCore
import CofferSystem
import Glibc

/// Where connections come from: the sockets that the service manager passed, or one of our own.
enum ListeningSockets {
    private static let firstPassed: Int32 = 3

    /// Takes every listening socket.
    ///
    /// - Parameters:
    ///   - options: May name a path, where nothing was passed.
    ///   - serve: Gets each socket to own.
    static func takeAll(
        _ options: Options,
        _ serve: (consuming OwnedDescriptor) throws -> Void
    ) throws {
        let count = sd_listen_fds(1)
        guard count >= 0 else { throw SystemError("sd_listen_fds", code: -count) }
        if count == 0 {
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
        for number in firstPassed..<(firstPassed + count) {
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
