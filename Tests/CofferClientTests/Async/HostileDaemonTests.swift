import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

@Suite struct `A daemon that does not keep to the protocol` {
    private let request = Request(id: .integer(1), method: "vault.status")

    /// The error of a call that is answered with some bytes and nothing after them.
    private func failureOfStatus(_ bytes: [UInt8], closes: Bool) async throws -> CofferError? {
        let daemon = try FakeDaemon([
            { peer in
                _ = try peer.next()
                peer.send(bytes)
                if !closes { try peer.drain() }
            }
        ])
        return await failure { () throws(CofferError) in
            try await CofferClient.withConnection(to: daemon.socketPath, reconnecting: .never) {
                (client) throws(CofferError) in
                try await client.status()
            }
        }
    }

    @Test(
        arguments: [
            Array(repeating: 0xFF, count: 16), [0, 0, 0, 0, 0, 0, 0, 0], wireFrame(Array("{".utf8)),
            wireFrame(Array("[]".utf8)), wireFrame(Array("{}".utf8)), wireFrame(Array(#""text""#.utf8)),
            wireFrame(Array(#"{"jsonrpc":"2.0","id":1}"#.utf8)),
            wireFrame(Array(#"{"jsonrpc":"2.0","id":1,"result":[]}"#.utf8)),
            wireFrame(Array(#"{"jsonrpc":"2.0","id":null,"result":{}}"#.utf8)),
            wireFrame(Response.successBytes(id: .integer(99), result: lockedStatus)),
            wireFrame(Response.successBytes(id: .string("1"), result: lockedStatus)),
            wireFrame(Response.successBytes(id: .integer(1), result: ["state": "aStateOfALaterVersion"])),
        ]
    )
    func `ends the call with the blame, and with its connection`(bytes: [UInt8]) async throws {
        let error = try await failureOfStatus(bytes, closes: false)
        #expect(error?.code == .protocolViolation)
    }

    @Test func `ends the call wherever it stops`() async throws {
        let whole = wireFrame(Response.successBytes(id: .integer(1), result: lockedStatus))
        for count in [0, 1, 7, 8, 20, whole.count - 1] {
            let error = try await failureOfStatus(Array(whole.prefix(count)), closes: true)
            #expect(error?.code == .notAvailable, "\(count) bytes")
        }
        #expect(try await failureOfStatus(whole, closes: true) == nil)
    }

    @Test func `is not asked again by a client that it has told off`() async throws {
        let error = try await failureOfStatus(
            wireFrame(Response.failureBytes(id: nil, error: CofferError(.missingEntitlement, "not you"))),
            closes: true
        )
        #expect(error?.code == .missingEntitlement)
        #expect(error?.message == "not you")
    }

    @Test func `answers the same twice, and ends what waits`() async throws {
        let answer = wireFrame(Response.successBytes(id: .integer(1), result: lockedStatus))
        let daemon = try FakeDaemon([
            { peer in
                _ = try peer.next()
                peer.send(answer)
                _ = try peer.next()
                peer.send(answer)
                try peer.drain()
            }
        ])
        try await CofferClient.withConnection(to: daemon.socketPath, reconnecting: .never) { client in
            _ = try await client.status()
            let error = await failure { () throws(CofferError) in try await client.status() }
            #expect(error?.code == .protocolViolation)
        }
        daemon.wait()
    }

    @Test func `brings an answer in pieces of one byte, with news between`() async throws {
        let bytes =
            wireFrame(Response.notificationBytes(method: "newsOfALaterVersion", params: [:]))
            + wireFrame(Response.notificationBytes(method: "progress", params: ["id": 1, "done": "much"]))
            + wireFrame(Response.notificationBytes(method: "progress", params: ["id": 7, "done": 8]))
            + wireFrame(Response.successBytes(id: .integer(1), result: lockedStatus))
        let daemon = try FakeDaemon([
            { peer in
                _ = try peer.next()
                for byte in bytes { peer.send([byte]) }
                try peer.drain()
            }
        ])
        let status = try await CofferClient.withConnection(to: daemon.socketPath) { client in
            try await client.status()
        }
        #expect(status.state == .locked)
        daemon.wait()
    }

    @Test func `says nothing, and a task that is cancelled does not wait for it`() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let daemon = try FakeDaemon([
            { peer in
                _ = try peer.next()
                asked.continuation.yield()
                try peer.drain()
            }
        ])
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            let task = Task { await failure { () throws(CofferError) in try await client.status() } }
            for await _ in asked.stream { break }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .userCanceled)
        }
        daemon.wait()
    }
}
