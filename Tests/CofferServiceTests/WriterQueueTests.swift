import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Clients that wait to write a file.
@Suite struct WriterQueueTests {
    private let timed: TimedServer
    private let name: ItemName

    init() throws {
        timed = try TimedServer()
        name = try ItemName("a")
        try timed.client.put("a", [1]) {
            $0.kind = .document
            $0.protectionClass = .complete
        }
    }

    /// Begins to wait on a connection of its own.
    private func beginWaiting() throws -> RawConnection {
        var connection = try timed.connectRaw()
        try connection.send(.fileOpen, ["name": "a", "access": "write", "wait": true])
        let isTaken = connection.isTaken
        #expect(isTaken)
        // What the server has taken begins before it answers another request.
        _ = try timed.state()
        return connection
    }

    private func open(_ client: BlockingClient) throws -> OpenedFile { try client.openFile(name, for: .write) }

    @Test func `they get their turns in the order of their coming`() throws {
        let first = try open(timed.client)
        var second = try beginWaiting()
        var third = try beginWaiting()
        try first.close()
        #expect(try second.refusal() == nil)
        try second.send(.fileClose, ["handle": 1])
        #expect(try second.refusal() == nil)
        #expect(try third.refusal() == nil)
        let refused = try Outcome { _ = try open(timed.client) }
        #expect(refused == .refused(.notAvailable))
    }

    @Test func `one that goes away while it waits is no longer there, and the next one gets the turn`() throws {
        let first = try open(timed.client)
        do {
            var gone = try beginWaiting()
            // After the request; it would be answered before the connection ends, if ever.
            try gone.send(.hello, ["protocol": 1])
        }
        var next = try beginWaiting()
        try first.close()
        #expect(try next.refusal() == nil)
        try next.send(.fileClose, ["handle": 1])
        #expect(try next.refusal() == nil)
        let again = try Outcome { try open(timed.client).close() }
        #expect(again == .done)
    }

    @Test func `a lock answers those who wait, though the writer keeps its dead handle`() throws {
        let first = try open(timed.client)
        let other = try timed.server.connect()
        let reader = try other.openFile(name)
        var waiting = try beginWaiting()
        var alsoWaiting = try beginWaiting()
        _ = try timed.client.lock()
        timed.clock.advance(by: 9)
        #expect(try timed.state() == .locking)
        timed.clock.advance(by: 1)
        #expect(try waiting.refusal() == .interactionNotAllowed)
        #expect(try alsoWaiting.refusal() == .interactionNotAllowed)
        let read = try Outcome { _ = try reader.get() }
        #expect(read == .locked)
        // After an unlock all clients start anew, whatever the first one does with its handle.
        try timed.client.unlock()
        let writer = try open(other)
        var late = try beginWaiting()
        try first.close()
        try writer.put([7], at: 0)
        try writer.close()
        #expect(try late.refusal() == nil)
        #expect(try timed.client.get("a") == [7])
    }

    @Test func `a lock that falls due in the middle of a turn answers those who wait`() throws {
        let first = try open(timed.client)
        var waiting = try beginWaiting()
        _ = try timed.client.lock()
        // No timer fires for the lock that is due: a turn without requests, of a new connection, carries it out.
        timed.clock.sleep(for: 10)
        let other = try timed.connectRaw()
        #expect(try waiting.refusal() == .interactionNotAllowed)
        try first.close()
        _ = consume other
    }

    @Test func `an erase answers those who wait`() throws {
        let first = try open(timed.client)
        var waiting = try beginWaiting()
        let vaultID = try #require(try timed.client.status().vaultID)
        try timed.client.erase(vaultID: vaultID)
        #expect(try waiting.refusal() == .notAvailable)
        let write = try Outcome { try first.put([1]) }
        #expect(write == .refused(.notAvailable))
    }

    @Test func `a file of a class that lives on goes to the next one in the middle of a lock`() throws {
        _ = try timed.client.protect(name, as: .file(.completeUntilFirstUserAuthentication))
        let first = try open(timed.client)
        var waiting = try beginWaiting()
        _ = try timed.client.lock(graceSeconds: 0)
        try first.put([2], at: 0)
        try first.close()
        #expect(try waiting.refusal() == nil)
        #expect(try timed.client.get("a") == [2])
    }
}
