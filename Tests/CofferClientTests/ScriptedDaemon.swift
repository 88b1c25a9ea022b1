import CofferClient
import CofferCore
import CofferSystem
import CofferWire
import Foundation
import Testing

/// A daemon that has already sent its answers, and records the requests.
final class ScriptedDaemon {
    let client: BlockingClient
    private let daemon: Int32

    init(_ answers: [[UInt8]]) throws {
        signal(SIGPIPE, SIG_IGN)
        let script = answers.flatMap { $0 }
        (client, daemon) = try UnixSocket.pair().split { server, client in
            try #require(write(server.number, script, script.count) == script.count)
            shutdown(server.number, Int32(SHUT_WR))
            return (try BlockingClient(socket: client), server.release())
        }
    }

    deinit { close(daemon) }

    /// The bytes that the client has sent.
    var requests: [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 10_000)
        return Array(buffer[..<max(0, read(daemon, &buffer, buffer.count))])
    }
}

func answer(_ id: Int64, _ result: JSONValue, _ payload: [UInt8] = []) -> [UInt8] {
    wireFrame(Response.successBytes(id: .integer(id), result: result), payload)
}

/// An answer without a request number: the daemon's reason for closing.
func refusal(_ error: CofferError) -> [UInt8] { wireFrame(Response.failureBytes(id: nil, error: error)) }

func news(_ method: String) -> [UInt8] { wireFrame(Response.notificationBytes(method: method, params: [:])) }

func request(_ id: Int64, _ method: String, _ params: JSONObject = [:], _ payload: [UInt8] = []) -> [UInt8] {
    wireFrame(Request(id: .integer(id), method: method, params: params).serialized(), payload)
}
