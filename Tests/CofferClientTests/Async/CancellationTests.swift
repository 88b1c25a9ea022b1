import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

@Suite struct `A call that is cancelled` {
    private let name: ItemName
    init() throws { name = try ItemName("a") }

    @Test func `is not made where its task was cancelled before`() async throws {
        let daemon = try FakeDaemon([
            { peer in
                let request = try peer.next()
                #expect(request == nil)
            }
        ])
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await failure { () throws(CofferError) in try await client.status() }
            }
            let error = await task.value
            #expect(error?.code == .userCanceled)
        }
        daemon.wait()
    }

    @Test func `is not made while it waits for its turn`() async throws {
        let full = AsyncStream.makeStream(of: Void.self)
        let log = Shared<[String]>([])
        let daemon = try FakeDaemon([
            { peer in
                // As many as the daemon accepts without an answer; the client holds the next ones back.
                for _ in 1..<Limits.requestsInFlight { _ = try peer.next() }
                full.continuation.yield()
                while let request = try peer.next() { log.change { $0.append(request.method) } }
            }
        ])
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            let others = (1..<Limits.requestsInFlight).map { _ in
                Task { await failure { () throws(CofferError) in try await client.status() } }
            }
            for await _ in full.stream { break }
            let late = Task {
                await failure { () throws(CofferError) in try await client.call(ItemRemoveParameters(name: name)) }
            }
            late.cancel()
            let error = await late.value
            #expect(error?.code == .userCanceled)
            for other in others { other.cancel() }
            for other in others {
                let error = await other.value
                #expect(error?.code == .userCanceled)
            }
        }
        daemon.wait()
        #expect(!log.value.contains("item.remove"))
    }

    @Test(arguments: [false, true])
    func `ends with what the daemon says, where it may have changed something`(isDone: Bool) async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let daemon = try FakeDaemon([
            { peer in
                let request = try peer.next()
                asked.continuation.yield()
                let order = try peer.next()
                #expect(order?.method == "request.cancel")
                #expect(order?.params["request"] == .integer(1))
                peer.answer(order)
                if isDone {
                    peer.answer(request)
                } else {
                    peer.refuse(request, CofferError(.userCanceled, "taken back"))
                }
                try peer.drain()
            }
        ])
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            let task = Task {
                await failure { () throws(CofferError) in try await client.call(ItemRemoveParameters(name: name)) }
            }
            for await _ in asked.stream { break }
            task.cancel()
            let error = await task.value
            #expect(error?.message == (isDone ? nil : "taken back"))
        }
        daemon.wait()
    }

    @Test func `is sent to its end where it has begun to go out, and what comes behind it is whole`() async throws {
        let begun = AsyncStream.makeStream(of: Void.self)
        let resume = DispatchSemaphore(value: 0)
        let methods = Shared<[String]>([])
        let daemon = try FakeDaemon([
            { peer in
                // The socket is smaller than the frame: a part has arrived, and stays unread.
                var byte: UInt8 = 0
                _ = recv(peer.number, &byte, 1, Int32(MSG_PEEK))
                begun.continuation.yield()
                resume.wait()
                while let request = try peer.next() {
                    methods.change { $0.append(request.method) }
                    peer.answer(request, lockedStatus)
                }
            }
        ])
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            let message = try Secret([UInt8](repeating: 7, count: Limits.framePayloadBytes))
            let task = Task {
                await failure { () throws(CofferError) in
                    try await client.call(KeychainSignParameters(KeychainQuery(.key)), payload: message)
                }
            }
            for await _ in begun.stream { break }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .userCanceled)
            resume.signal()
            #expect(try await client.status().state == .locked)
        }
        daemon.wait()
        #expect(methods.value == ["keychain.sign", "request.cancel", "vault.status"])
    }

    @Test func `does not wait for ever where a daemon hangs, and says that nobody knows`() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let daemon = try FakeDaemon([
            { peer in
                _ = try peer.next()
                asked.continuation.yield()
                try peer.drain()
            }
        ])
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            let task = Task {
                await failure { () throws(CofferError) in try await client.call(ItemRemoveParameters(name: name)) }
            }
            for await _ in asked.stream { break }
            task.cancel()
            let error = await task.value
            #expect(error?.code == .outcomeUnknown)
        }
        daemon.wait()
    }

    @Test func `leaves what is stored where it stores, and its connection to others`() async throws {
        let daemon = try DaemonProcess()
        let large = pseudoRandomBytes(1_000_000)
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            try await client.makeVault()
            try await client.put(name, from: AsyncStream(pieces: [large]))
            let endless = AsyncStream.makeStream(of: Secret.self)
            for _ in 0..<100 { endless.continuation.yield(try Secret([UInt8](repeating: 1, count: 10_000))) }
            let task = Task {
                await failure { () throws(CofferError) in try await client.put(name, from: endless.stream) }
            }
            // Somewhere in the transfer, or before it; nothing of it may be stored.
            try await passTime(with: daemon)
            task.cancel()
            let error = await task.value
            #expect(error?.code == .userCanceled)
            let content = try await collect(client.content(of: name))
            #expect(content == large)
        }
        withExtendedLifetime(daemon) {}
    }

    @Test func `stops fetching`() async throws {
        let daemon = try DaemonProcess()
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            try await client.makeVault()
            try await client.put(name, from: AsyncStream(pieces: [pseudoRandomBytes(5_000_000)]))
            let task = Task {
                var count = 0
                do {
                    for try await piece in client.content(of: name) {
                        count += piece.count
                        withUnsafeCurrentTask { $0?.cancel() }
                    }
                    return (count, ErrorCode?.none)
                } catch {
                    return (count, (error as? CofferError)?.code)
                }
            }
            let (count, code) = await task.value
            #expect(count <= 64 << 10)
            #expect(code == .userCanceled)
            #expect(try await client.call(ItemShowParameters(name: name)).value.byteCount == 5_000_000)
        }
        withExtendedLifetime(daemon) {}
    }
}

/// Lets some time pass by a call on another connection; on the storing connection, such a call would wait for
/// the transfer.
private func passTime(with daemon: DaemonProcess) async throws {
    _ = try await CofferClient.withConnection(to: daemon.socketPath) { client in try await client.status() }
}

@Suite struct `A daemon that is killed` {
    private let name: ItemName
    private let large = pseudoRandomBytes(3_000_000)
    init() throws { name = try ItemName("a") }

    @Test func `in the middle of storing leaves what was stored`() async throws {
        let daemon = try DaemonProcess()
        let processID = daemon.processID
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            try await client.makeVault()
            try await client.put(name, from: AsyncStream(pieces: [large]))
            let pieces = AsyncStream.makeStream(of: Secret.self)
            for _ in 0..<10 { pieces.continuation.yield(try Secret([UInt8](repeating: 1, count: 50_000))) }
            let task = Task {
                await failure { () throws(CofferError) in try await client.put(name, from: pieces.stream) }
            }
            try await passTime(with: daemon)
            kill(processID, SIGKILL)
            for _ in 0..<100 { pieces.continuation.yield(try Secret([UInt8](repeating: 1, count: 50_000))) }
            pieces.continuation.finish()
            let error = await task.value
            #expect([.outcomeUnknown, .notAvailable].contains(error?.code))
            try daemon.restart()
            let content = try await collect(client.content(of: name))
            #expect(content == large)
        }
    }

    @Test func `in the middle of fetching ends it with an error`() async throws {
        let daemon = try DaemonProcess()
        let processID = daemon.processID
        try await CofferClient.withConnection(to: daemon.socketPath) { client in
            try await client.makeVault()
            try await client.put(name, from: AsyncStream(pieces: [large]))
            var count = 0
            do {
                for try await piece in client.content(of: name) {
                    if count == 0 { kill(processID, SIGKILL) }
                    count += piece.count
                }
                Issue.record("\(count) bytes came")
            } catch {
                #expect((error as? CofferError)?.code == .notAvailable)
            }
        }
        withExtendedLifetime(daemon) {}
    }
}

extension AsyncStream where Element == Secret {
    /// A content that is complete.
    init(pieces: [[UInt8]]) {
        let secrets = pieces.compactMap { try? Secret($0) }
        self.init { continuation in
            for secret in secrets { continuation.yield(secret) }
            continuation.finish()
        }
    }
}
