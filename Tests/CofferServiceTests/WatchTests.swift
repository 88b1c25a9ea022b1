import CofferClient
import CofferCore
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The notifications of clients that watch.
@Suite struct WatchTests {
    private static let gone = Notification.protectedDataWillBecomeUnavailable.rawValue
    private static let lost = Notification.protectedDataDidBecomeUnavailable.rawValue
    private static let inactive = Notification.inactiveDataDidBecomeUnavailable.rawValue
    private static let forgotten = Notification.firstUnlockDataDidBecomeUnavailable.rawValue
    private static let there = Notification.protectedDataDidBecomeAvailable.rawValue

    private typealias Notification = CofferWire.Notification

    private func watch(_ timed: TimedServer) throws -> RawConnection {
        var watcher = try timed.connectRaw()
        try watcher.send(.vaultWatch)
        let refused = try watcher.refusal()
        #expect(refused == nil)
        return watcher
    }

    @Test func `news come in their order, and only where something has changed`() throws {
        let timed = try TimedServer()
        let client = timed.client
        var watcher = try watch(timed)
        let steps: [(() throws -> Void, [String])] = [
            ({ try client.unlock() }, []),
            ({ _ = try client.lock() }, [Self.gone]),
            ({ _ = try client.lock() }, []),
            ({ timed.clock.advance(by: 9) }, []),
            ({ try client.unlock() }, [Self.there]),
            ({ _ = try client.lock() }, [Self.gone]),
            ({ timed.clock.advance(by: 10) }, [Self.lost]),
            ({ _ = try client.lock(graceSeconds: 0) }, []),
            ({ timed.clock.advance(by: 600) }, [Self.inactive]),
            ({ try client.unlock() }, [Self.there]),
            ({ _ = try client.lock(graceSeconds: 0) }, [Self.gone, Self.lost]),
            ({ timed.clock.advance(by: 259_200) }, [Self.inactive, Self.forgotten]),
            ({ try client.unlock() }, [Self.there]),
            ({ try client.unlock() }, []),
        ]
        for (number, (step, expected)) in steps.enumerated() {
            try step()
            let news = try watcher.newsUntilAnswer()
            #expect(news == expected, "step \(number)")
        }
    }

    @Test func `news come before the answer to what has brought them about`() throws {
        let timed = try TimedServer()
        var watcher = try watch(timed)
        let news = try watcher.newsUntilAnswer(to: .vaultLock, ["grace": 0])
        #expect(news == [Self.gone, Self.lost])
        let after = try watcher.newsUntilAnswer()
        #expect(after == [])
    }

    @Test func `an idle lock is announced by the timer, without a request`() throws {
        let timed = try TimedServer(LockSchedule.Policy(lockAfterSeconds: 60))
        var watcher = try watch(timed)
        timed.clock.advance(by: 60)
        guard case .notification(let method, let params) = try watcher.next() else {
            Issue.record("no news came")
            return
        }
        #expect(method == Self.gone)
        #expect(params.members.isEmpty)
        #expect(try timed.state() == .locking)
    }

    @Test func `a machine that slept past everything tells it once`() throws {
        let timed = try TimedServer(LockSchedule.Policy(lockAfterSeconds: 60))
        var watcher = try watch(timed)
        timed.clock.sleep(for: 1_000_000)
        #expect(try timed.state() == .beforeFirstUnlock)
        let news = try watcher.newsUntilAnswer()
        #expect(news == [Self.gone, Self.lost, Self.inactive, Self.forgotten])
    }

    @Test func `data that go with their vault, or stay without its passcode, are news`() throws {
        let timed = try TimedServer()
        var watcher = try watch(timed)
        _ = try timed.client.lock()
        let locked = try watcher.newsUntilAnswer()
        #expect(locked == [Self.gone])
        var raw = try timed.connectRaw()
        try raw.send(.passcodeRemove, ["destroys": 0], payload: Array(DaemonProcess.passcode.utf8))
        let isRefused = try raw.refusal()
        #expect(isRefused == nil)
        let open = try watcher.newsUntilAnswer()
        #expect(open == [Self.there])
        try timed.client.erase(vaultID: try #require(try timed.client.status().vaultID))
        let erased = try watcher.newsUntilAnswer()
        #expect(erased == [Self.gone, Self.lost])
    }

    @Test func `who does not watch is told nothing`() throws {
        let timed = try TimedServer()
        var other = try timed.connectRaw()
        _ = try timed.client.lock(graceSeconds: 0)
        let news = try other.newsUntilAnswer()
        #expect(news == [])
    }

    @Test func `a vault that is made is news, and one without a passcode has no more of them`() throws {
        let server = try TestServer()
        var watcher = try RawConnection(server)
        try watcher.send(.vaultWatch)
        let refused = try watcher.refusal()
        #expect(refused == nil)
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        let first = try watcher.newsUntilAnswer()
        #expect(first == [Self.there])
        let outcome = try Outcome { _ = try client.lock(graceSeconds: 0) }
        #expect(outcome == .refused(.notAvailable))
        let second = try watcher.newsUntilAnswer()
        #expect(second == [])
    }

    @Test func `a watcher that does not read misses events, is told how many, and holds nobody up`() throws {
        let timed = try TimedServer()
        let client = timed.client
        try client.put("f", pseudoRandomBytes(200_000)) { $0.protectionClass = ProtectionClass.none }
        var other = try watch(timed)
        var watcher = try watch(timed)
        for _ in 0..<60 { try watcher.send(.itemGet, ["name": "f"]) }
        for _ in 0..<50 {
            _ = try client.lock(graceSeconds: 0)
            try client.unlock()
        }
        let news = try other.newsUntilAnswer()
        #expect(news == Array(repeating: [Self.gone, Self.lost, Self.there], count: 50).flatMap(\.self))
        var (answerCount, toldCount, missedCount) = (0, 0, 0)
        while answerCount < 60 || missedCount == 0, let message = try watcher.next() {
            switch message {
            case .response: answerCount += 1
            case .notification(let method, let params):
                if case .eventsMissed(let count) = VaultEvent(notification: method, params) {
                    missedCount += count
                } else {
                    toldCount += 1
                }
            }
        }
        #expect(answerCount == 60)
        #expect(toldCount + missedCount == 150)
        _ = try client.lock(graceSeconds: 0)
        let next = try watcher.newsUntilAnswer()
        #expect(next == [Self.gone, Self.lost], "what comes after is told again")
    }
}
