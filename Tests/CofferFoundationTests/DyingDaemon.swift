import CofferTestSupport
import Foundation

/// A daemon that greets, reads a request and disconnects before it answers, for each connection.
final class DyingDaemon {
    let path: String
    private let directory: TemporaryDirectory
    private let listener: Int32
    private let count = Shared(0)
    private let thread: Background<Void>

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.appending("socket")
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { [path] in $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(listener, 8) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        let count = count
        thread = Background {
            while case let client = accept(listener, nil, nil), client >= 0 {
                var buffer = [UInt8](repeating: 0, count: 4096)
                if read(client, &buffer, buffer.count) > 0 { Self.greet(client) }
                if read(client, &buffer, buffer.count) > 0 { count.change { $0 += 1 } }
                close(client)
            }
        }
    }

    /// Answers the first request of a connection.
    private static func greet(_ client: Int32) {
        let answer = Array(#"{"jsonrpc":"2.0","id":1,"result":{"protocol":1,"version":"0","group":"a"}}"#.utf8)
        let frame = [0, 0, 0, UInt8(answer.count), 0, 0, 0, 0] + answer
        _ = write(client, frame, frame.count)
    }

    /// Ends it.
    ///
    /// - Returns: How many requests there were, without the greetings.
    func end() throws -> Int {
        shutdown(listener, Int32(SHUT_RDWR))
        try thread.wait()
        close(listener)
        return count.value
    }
}
