import CofferClient
import CofferCore
import CofferMemory
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A lock that comes between the steps of a request.
@Suite struct LockBetweenTests {
    private static let query: JSONObject = ["class": "genericPassword", "attributes": ["account": "guarded"]]

    /// A vault whose grace is under way, with a secret that outlives it and wants the passcode to be shown.
    private struct Place {
        let clock = ManualClock()
        let hold = DiskHold()
        let server: TestServer
        let client: BlockingClient
        let guarded: RawBox

        init(journal: (@Sendable ([AuditRecord]) -> Void)? = nil) throws {
            server = try TestServer(clock: clock.clock, fileSystem: hold.fileSystem) { $0.journal.write = journal }
            client = try server.connect()
            try client.makeVault()
            guarded = RawBox(try RawConnection(server))
            var params = LockBetweenTests.query
            params.set("accessControl", ["devicePasscode"])
            params.set("accessible", .string(Accessibility.afterFirstUnlock.rawValue))
            try guarded.raw.send(.keychainAdd, params, payload: [1])
            #expect(try guarded.raw.refusal() == nil)
            _ = try client.lock(graceSeconds: 10)
        }

        func sendPasscode() throws {
            let passcode = Array(DaemonProcess.passcode.utf8)
            try guarded.raw.send(.contextAuthenticate, ["reuse": 300], payload: passcode)
        }

        func show() throws {
            try sendPasscode()
            #expect(try guarded.raw.refusal() == nil)
            try guarded.raw.send(.keychainFind, LockBetweenTests.query)
            #expect(try guarded.raw.refusal() == nil)
        }
    }

    // MARK: By the clock

    @Test(arguments: [false, true])
    func `what was shown ends with the grace, though what wants it has come before`(hasGoneOff: Bool) throws {
        let place = try Place()
        try place.show()
        try place.server.whileStill {
            try place.guarded.raw.send(.keychainFind, Self.query)
            // A sleeping machine's timers have not gone off when it goes on.
            if hasGoneOff { place.clock.advance(by: 10) } else { place.clock.sleep(for: 10) }
        }
        #expect(try place.guarded.raw.refusal() == .interactionRequired)
        #expect(try place.client.status().state == .locked)
    }

    @Test func `what was shown ends with the grace, though what wants it has begun and waits for a commit`() throws {
        let atCommit = Shared<(@Sendable () -> Void)?>(nil)
        let place = try Place { _ in
            let act = atCommit.value
            atCommit.value = nil
            act?()
        }
        try place.show()
        let (maker, busy) = (RawBox(try RawConnection(place.server)), RawBox(try RawConnection(place.server)))
        for box in [maker, busy] { _ = try box.raw.newsUntilAnswer() }
        // The commit is behind the lock of the turn: what waits for it begins with the next one.
        atCommit.value = { [clock = place.clock] in clock.sleep(for: 10) }
        place.hold.arm(.create)
        try place.server.whileStill {
            try maker.raw.send(.fileOpen, ["name": "f", "access": "write", "create": true, "class": "none"])
            try busy.raw.send(.itemPut, ["name": "other"], payload: [1])
        }
        try place.hold.whileReached { try place.guarded.raw.send(.keychainFind, Self.query) }
        #expect(try place.guarded.raw.refusal() == .interactionRequired)
    }

    @Test func `what is being shown while the grace ends is not shown`() throws {
        let place = try Place()
        // The turn of the lock, and what it writes behind its answers, is over.
        for _ in 0..<2 { _ = try place.client.status() }
        // The attempt is written down before it is made.
        place.hold.arm(.write)
        try place.sendPasscode()
        place.hold.whileReached { place.clock.advance(by: 10) }
        #expect(try place.guarded.raw.refusal() == nil)
        #expect(try place.client.status().state == .locked)
        try place.guarded.raw.send(.keychainFind, Self.query)
        #expect(try place.guarded.raw.refusal() == .interactionRequired)
    }

    // MARK: Of a passcode that is being set

    private func whileSetting(
        _ body: (TestServer, BlockingClient) throws -> Void
    ) throws -> (TestServer, BlockingClient) {
        let hold = DiskHold()
        let server = try TestServer(fileSystem: hold.fileSystem)
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        try client.put("a", [1]) { $0.accessibility = .whenUnlocked }
        hold.arm(.create)
        let setter = try server.connect()
        let setting = Background {
            let passcode: SecretBytes? = try SecretBytes(DaemonProcess.passcode.utf8)
            _ = try setter.setPasscode(passcode, kdf: .interactive)
        }
        try hold.whileReached { try body(server, client) }
        try setting.wait()
        return (server, client)
    }

    @Test func `a lock while the first passcode is being set is refused, and the passcode is the one that was set`()
        throws
    {
        let (server, client) = try whileSetting { _, client in
            #expect(try client.status().state == .noPasscode)
            let lock = try Outcome { _ = try client.lock(graceSeconds: 0) }
            #expect(lock == .refused(.notAvailable), "there is nothing yet that a lock takes")
            #expect(try client.get("a") == [1])
        }
        #expect(try client.status().state == .unlocked)
        #expect(try client.get("a") == [1])
        _ = try client.lock(graceSeconds: 0)
        #expect(try Outcome { _ = try client.get("a") } == .locked)
        try client.unlock()
        #expect(try client.get("a") == [1])
        withExtendedLifetime(server) {}
    }

    @Test func `a machine that sleeps while the first passcode is being set wakes up with a locked vault`() throws {
        let (server, client) = try whileSetting { server, client in
            server.take(.sleep)
            let state = try client.status().state
            #expect(state == .noPasscode)
        }
        #expect(try client.status().state == .locked)
        #expect(try Outcome { _ = try client.get("a") } == .locked)
        try client.unlock()
        #expect(try client.get("a") == [1])
        withExtendedLifetime(server) {}
    }
}
