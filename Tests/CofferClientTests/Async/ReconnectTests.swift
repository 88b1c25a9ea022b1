import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The requests that a fake daemon received, by connection.
private final class Log: Sendable {
    private let methods = Shared<[String]>([])
    var all: [String] { methods.value }
    func note(_ request: Request?) { methods.change { $0.append(request?.method ?? "nothing") } }
}

private let placement: JSONValue = [
    "store": "keychain", "accessible": "WhenUnlocked", "rule": "R6", "reason": "small", "protectionSource": "standard",
    "warnings": [],
]

/// Without a delay, so that a test does not wait.
private let eager = ReconnectPolicy(attempts: 5, firstDelay: .zero)

@Suite struct `A connection that breaks` {
    private let name: ItemName
    init() throws { name = try ItemName("a") }

    @Test func `is made again, and what only asks is asked again`() async throws {
        let log = Log()
        let daemon = try FakeDaemon([
            { peer in log.note(try peer.next()) },
            { peer in log.note(try peer.next()) },
            { peer in
                let request = try peer.next()
                log.note(request)
                peer.answer(request, lockedStatus)
                try peer.drain()
            },
        ])
        let status = try await CofferClient.withConnection(to: daemon.socketPath, reconnecting: eager) { client in
            try await client.status()
        }
        #expect(status.state == .locked)
        daemon.wait()
        #expect(log.all == ["vault.status", "vault.status", "vault.status"])
    }

    @Test func `ends a change that was sent, and says that nobody knows what came of it`() async throws {
        let log = Log()
        let daemon = try FakeDaemon([
            { peer in log.note(try peer.next()) },
            { peer in
                while let request = try peer.next() {
                    log.note(request)
                    peer.answer(request, lockedStatus)
                }
            },
        ])
        try await CofferClient.withConnection(to: daemon.socketPath, reconnecting: eager) { client in
            let error = await failure { () throws(CofferError) in
                try await client.call(ItemRemoveParameters(name: name))
            }
            #expect(error?.code == .outcomeUnknown)
            #expect(error?.message.hasPrefix("it is not known whether 'item.remove' was carried out") == true)
            _ = try await client.status()
        }
        daemon.wait()
        #expect(log.all == ["item.remove", "vault.status"])
    }

    @Test func `repeats a change that did not go out whole`() async throws {
        let log = Log()
        let size = Limits.framePayloadBytes
        let daemon = try FakeDaemon([
            // The frame exceeds the socket's buffer, so only a part of it was sent.
            { peer in
                var byte: UInt8 = 0
                _ = read(peer.number, &byte, 1)
            },
            { peer in
                let request = try peer.next()
                log.note(request)
                peer.answer(request, placement)
                try peer.drain()
            },
        ])
        try await CofferClient.withConnection(to: daemon.socketPath, reconnecting: eager) { client in
            let content = try Secret([UInt8](repeating: 7, count: size))
            let stored = try await client.put(name, content)
            #expect(stored.rule == "R6")
        }
        daemon.wait()
        #expect(log.all == ["item.put"])
    }

    @Test func `is not made again for ever`() async throws {
        let log = Log()
        let daemon = try FakeDaemon(Array(repeating: { peer in log.note(try peer.next()) }, count: 20))
        let error = await failure { () throws(CofferError) in
            try await CofferClient.withConnection(to: daemon.socketPath, reconnecting: eager) {
                (client) throws(CofferError) in
                try await client.status()
            }
        }
        #expect(error?.code == .notAvailable)
        // Once, and again as often as the policy says.
        #expect(log.all.count <= 6)
    }

    @Test func `is not made again where the policy says so`() async throws {
        let log = Log()
        let daemon = try FakeDaemon([{ peer in log.note(try peer.next()) }, { peer in log.note(try peer.next()) }])
        let error = await failure { () throws(CofferError) in
            try await CofferClient.withConnection(to: daemon.socketPath, reconnecting: .never) {
                (client) throws(CofferError) in
                try await client.status()
            }
        }
        #expect(error?.code == .notAvailable)
        #expect(log.all == ["vault.status"])
    }

    @Test func `takes open files with it`() async throws {
        let opened: JSONValue = ["handle": 3, "bytes": 10, "class": "complete", "created": false]
        let daemon = try FakeDaemon([
            { peer in
                peer.answer(try peer.next(), opened)
                _ = try peer.next()
            },
            { peer in
                while let request = try peer.next() {
                    // On this connection, the handle's number may be that of another file.
                    #expect(request.method == "vault.status")
                    peer.answer(request, lockedStatus)
                }
            },
        ])
        try await CofferClient.withConnection(to: daemon.socketPath, reconnecting: eager) { client in
            let file = try await client.openFile(name)
            let first = await failure { () throws(CofferError) in try await file.read(at: 0, count: 10) }
            #expect(first?.hint == "open it again")
            _ = try await client.status()
            let second = await failure { () throws(CofferError) in try await file.read(at: 0, count: 10) }
            #expect(second?.code == .notAvailable)
            #expect(second?.hint == "open it again")
        }
        daemon.wait()
    }

    @Test func `outlives the kill of a real daemon, which does nothing twice`() async throws {
        let daemon = try DaemonProcess()
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            try await client.makeVault()
            for number in 0..<5 {
                try await client.put(name, try Secret(exposed: "\(number)"))
                try daemon.restart()
                let content = try await client.get(name)
                #expect(content.exposeText() == "\(number)")
            }
        }
        withExtendedLifetime(daemon) {}
    }

    /// What asks, and is not repeated: it takes a descriptor, belongs to a session of its own, or is about one request.
    private static let asksOnce: Set<Method> = [
        .backupBegin, .backupContents, .backupRead, .backupSign, .fileSalvage, .requestCancel,
    ]
    /// A second lock or sync finds nothing left to do, and a list of keyslots only waits for their changes.
    private static let harmless: Set<Method> = [.fileSyncTree, .slotList, .vaultLock]

    @Test(arguments: Method.allCases)
    func `repeats what only asks, and no method that may change something`(method: Method) {
        let onlyAsks =
            switch method.claim {
            case .nothing, .reads: !Self.asksOnce.contains(method)
            case .barrier, .keys, .changes: Self.harmless.contains(method)
            }
        #expect(method.isIdempotent == onlyAsks)
    }
}
