import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

@Suite struct `The events of a client` {
    @Test func `come from the moment on that they are asked for, in their order`() async throws {
        let server = try TestServer(graceSeconds: 0)
        try await CofferClient.withConnection(to: server.directory.appending("socket")) { client in
            let passcode = try Secret(exposed: "1234")
            try await client.makeVault(passcode)
            let events = try await client.events()
            var iterator = events.makeAsyncIterator()
            try await client.lock()
            #expect(try await iterator.next() == .protectedDataWillBecomeUnavailable)
            #expect(try await iterator.next() == .protectedDataDidBecomeUnavailable)
            try await client.unlock(with: passcode)
            #expect(try await iterator.next() == .protectedDataDidBecomeAvailable)
        }
        withExtendedLifetime(server) {}
    }

    @Test func `end with the client`() async throws {
        let server = try TestServer()
        let events = try await CofferClient.withConnection(to: server.directory.appending("socket")) { client in
            try await client.events()
        }
        for try await event in events { Issue.record("\(event)") }
        withExtendedLifetime(server) {}
    }

    @Test func `end with an error where the connection breaks, and can be asked for again`() async throws {
        let daemon = try FakeDaemon([
            { peer in peer.answer(try peer.next()) },
            { peer in
                peer.answer(try peer.next())
                peer.send(
                    wireFrame(
                        Response.notificationBytes(method: "protectedDataDidBecomeAvailable", params: [:])
                    )
                )
                try peer.drain()
            },
        ])
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            var broken = try await client.events().makeAsyncIterator()
            let error = await failure { () throws(CofferError) in try await broken.next() }
            #expect(error?.code == .notAvailable)
            var again = try await client.events().makeAsyncIterator()
            #expect(try await again.next() == .protectedDataDidBecomeAvailable)
        }
        daemon.wait()
    }

    @Test func `let go of a task that is cancelled`() async throws {
        let server = try TestServer()
        try await CofferClient.withConnection(to: server.directory.appending("socket")) { client in
            let events = try await client.events()
            let task = Task {
                var iterator = events.makeAsyncIterator()
                return await failure { () throws(CofferError) in try await iterator.next() }
            }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .userCanceled)
        }
        withExtendedLifetime(server) {}
    }

    @Test func `are counted where nobody looks, and none is told twice`() async throws {
        let count = 3000
        let daemon = try FakeDaemon([
            { peer in
                peer.answer(try peer.next())
                let news = wireFrame(
                    Response.notificationBytes(method: "protectedDataDidBecomeAvailable", params: [:])
                )
                for _ in 0..<count { peer.send(news) }
                peer.answer(try peer.next(), lockedStatus)
                try peer.drain()
            }
        ])
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            let events = try await client.events()
            _ = try await client.status()
            var told = 0
            var missed = 0
            for try await event in events {
                if case .eventsMissed(let count) = event { missed += count } else { told += 1 }
                if told + missed >= count { break }
            }
            #expect(told + missed == count)
            #expect(told == 1023)
        }
        daemon.wait()
    }

    @Test func `tell of items to those who asked for them`() async throws {
        let server = try TestServer()
        let others = try await CofferClient.withConnection(to: server.directory.appending("socket")) { client in
            try await client.makeVault()
            var items = try await client.events(.items).makeAsyncIterator()
            let others = try await client.events()
            let name = try ItemName("a")
            try await client.put(name, try Secret(exposed: "one"))
            guard case .itemsDidChange(let changes)? = try await items.next() else { throw POSIXError(.EINVAL) }
            #expect(changes.map(\.name) == ["a"])
            #expect(changes.map(\.kind) == [.added])
            return others
        }
        for try await event in others { Issue.record("\(event)") }
        withExtendedLifetime(server) {}
    }
}
