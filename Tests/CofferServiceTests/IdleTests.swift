import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Synchronization
import Testing

/// A server that ends when it is idle, and the states that it reports.
@Suite struct IdleTests {
    /// The states that a server has reported.
    private final class Told: Sendable {
        private let states = Mutex<[VaultState?]>([])
        var all: [VaultState?] { states.withLock { $0 } }
        func take(_ state: VaultState?) { states.withLock { $0.append(state) } }
    }

    private func server(
        in directory: TemporaryDirectory,
        _ clock: ManualClock,
        _ told: Told = Told()
    ) throws
        -> TestServer
    {
        try TestServer(in: directory, graceSeconds: 0, clock: clock.clock) {
            $0.idleExitSeconds = 30
            $0.reportState = { told.take($0) }
        }
    }

    /// Whether the server has released the lock of its vault; a connection would keep it running.
    private func hasEnded(_ directory: TemporaryDirectory) throws -> Bool {
        try Directory(makingPath: directory.appending("state")).lock()
    }

    @Test func `it ends when nobody was connected for the time, and no sooner`() throws {
        let (directory, clock) = (try TemporaryDirectory(), ManualClock())
        let server = try server(in: directory, clock)
        do {
            let client = try server.connect()
            clock.advance(by: 1000)
            #expect(try client.status().state == .noVault)
        }
        // A turn must notice the closed connection: the one that serves the next.
        _ = try server.connect().status()
        clock.advance(by: 29)
        #expect(try server.connect().status().state == .noVault)
        let isGone = becomesTrue {
            clock.advance(by: 31)
            return try hasEnded(directory)
        }
        #expect(isGone)
        withExtendedLifetime(server) {}
    }

    @Test(arguments: [true, false])
    func `it stays while there are keys that want the passcode`(isLocked: Bool) throws {
        let (directory, clock) = (try TemporaryDirectory(), ManualClock())
        let server = try server(in: directory, clock)
        do {
            let client = try server.connect()
            try client.makeVault()
            if isLocked { _ = try client.lock() }
        }
        for _ in 0..<20 {
            clock.advance(by: 31)
            _ = try server.connect().status()
        }
        let isGone = try hasEnded(directory)
        #expect(!isGone)
        withExtendedLifetime(server) {}
    }

    @Test func `it stays while the delay after wrong passcodes runs, which would begin anew`() throws {
        let (directory, clock) = (try TemporaryDirectory(), ManualClock())
        do {
            let first = try TestServer(in: directory)
            try first.connect().makeVault()
        }
        try directory.remove("socket")
        let server = try server(in: directory, clock)
        do {
            let client = try server.connect()
            for wrong in ["1", "2", "3", "4"] { try? client.unlock(wrong) }
            #expect(try client.status().retrySeconds == 60)
        }
        clock.advance(by: 45)
        let left = try server.connect().status().retrySeconds
        #expect(left == 15)
        let isGone = becomesTrue {
            clock.advance(by: 31)
            return try hasEnded(directory)
        }
        #expect(isGone)
        withExtendedLifetime(server) {}
    }

    @Test func `each state is told once, the first at the start`() throws {
        let (directory, clock, told) = (try TemporaryDirectory(), ManualClock(), Told())
        let server = try server(in: directory, clock, told)
        let client = try server.connect()
        #expect(told.all == [.noVault])
        try client.makeVault()
        _ = try client.status()
        _ = try client.lock()
        try client.unlock()
        _ = try client.status()
        #expect(told.all == [.noVault, .unlocked, .locked, .unlocked])
        withExtendedLifetime(server) {}
    }
}
