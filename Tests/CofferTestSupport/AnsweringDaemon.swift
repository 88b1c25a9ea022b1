package import CofferSystem
package import CofferWire
import Foundation

/// A socket that answers requests as the test says.
package final class AnsweringDaemon: Sendable {
    /// Answers the requests of one connection, in order, with frames; an empty frame closes the connection.
    package typealias Answers = (Request, borrowing OwnedDescriptor?) throws -> [[UInt8]]

    private let listener: Int32

    /// Listens on a socket.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - answers: Makes the closure for each connection, on a thread of its own.
    package init(at path: String, _ answers: @escaping @Sendable () -> Answers) throws {
        signal(SIGPIPE, SIG_IGN)
        let socket = try UnixSocket.listen(at: path).release()
        listener = socket
        Thread {
            let listener = OwnedDescriptor(owning: socket)
            var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            while poll(&wanted, 1, -1) == 1, wanted.revents & Int16(POLLHUP) == 0 {
                guard let connection = try? UnixSocket.accept(from: listener)?.release() else { continue }
                Thread { Self.serve(connection, answers()) }.start()
            }
        }.start()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    private static func serve(_ number: Int32, _ answers: Answers) {
        let connection = OwnedDescriptor(owning: number)
        _ = fcntl(number, F_SETFL, 0)
        var decoder = FrameDecoder()
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { piece.deallocate() }
        while var received = try? connection.receive(into: piece), received.count > 0 {
            let descriptor = received.takeTrustedDescriptor()
            let count = received.count
            var offset = 0
            while let frame = try? decoder.decode(piece.bytes.extracting(first: count), at: &offset) {
                guard case .success(let json) = frame.json, let request = try? Request(json),
                    let replies = try? answers(request, descriptor)
                else { return }
                for reply in replies where reply.isEmpty || !send(reply, to: connection) { return }
            }
        }
    }

    private static func send(_ bytes: [UInt8], to connection: borrowing OwnedDescriptor) -> Bool {
        var done = 0
        while done < bytes.count {
            guard let count = try? connection.send(bytes.span.bytes.extracting(droppingFirst: done)) else {
                return false
            }
            done += count
        }
        return true
    }

    /// A frame with a message, to which it adds `id` and `jsonrpc`.
    package static func frame(_ message: JSONObject, to request: Request?, payload: [UInt8] = []) -> [UInt8] {
        var whole: JSONObject = ["jsonrpc": "2.0"]
        if let id = request?.id?.value { whole.set("id", id) }
        for (key, value) in message.members { whole.set(key, value) }
        let json = JSONValue.object(whole).serialized()
        return FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json + payload
    }
}

extension RequestID {
    fileprivate var value: JSONValue? {
        switch self {
        case .integer(let number): .integer(number)
        case .string(let text): .string(text)
        }
    }
}
