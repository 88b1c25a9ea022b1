import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

@Suite struct `A client's connection` {
    @Test func `is there inside of the body, and closed behind it`() async throws {
        let server = try TestServer()
        let escaped = try await CofferClient.withConnection(to: server.directory.appending("socket")) { client in
            let status = try await client.status()
            #expect(status.state == .noVault)
            return client
        }
        let error = await failure { () throws(CofferError) in try await escaped.status() }
        #expect(error?.message == "the connection to the daemon is closed")
        withExtendedLifetime(server) {}
    }

    @Test func `is closed where the body throws`() async throws {
        let daemon = try FakeDaemon([{ peer in try peer.drain() }])
        await #expect(throws: POSIXError.self) {
            try await CofferClient.withConnection(to: daemon.socketPath) { _ in throw POSIXError(.EDOM) }
        }
        daemon.wait()
    }

    @Test func `fails with the path where nobody listens`() async throws {
        let directory = try TemporaryDirectory()
        let error = await failure { () throws(CofferError) in
            try await CofferClient.withConnection(to: directory.appending("nobody")) { (client) throws(CofferError) in
                try await client.status()
            }
        }
        #expect(error?.code == .notAvailable)
        #expect(error?.message.contains("can't reach the daemon at '\(directory.appending("nobody"))'") == true)
    }

    @Test func `carries many calls at once, each with its own answer, in whatever order they come`() async throws {
        let daemon = try FakeDaemon([
            { peer in
                var requests: [Request] = []
                while requests.count < 30, let request = try peer.next() { requests.append(request) }
                for request in requests.reversed() {
                    let name = request.params["name"]?.stringValue ?? ""
                    peer.answer(request, ["store": "keychain", "size": 3, "delivery": "payload"], Array(name.utf8))
                }
                try peer.drain()
            }
        ])
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 100..<130 {
                    group.addTask {
                        try await client.get(try ItemName("\(number)")).exposeText() == "\(number)"
                    }
                }
                for try await isOwn in group { #expect(isOwn) }
            }
        }
        daemon.wait()
    }
}
