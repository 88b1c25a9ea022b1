import CofferClient
import CofferCore
import CofferMemory
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Testing

/// Wrong passcodes from the client's side: section 7 of the semantics.
@Suite struct AttemptTests {
    /// The delay in seconds after each failure.
    private static let delays = [0, 0, 0, 60, 300, 900, 3600, 10_800, 28_800]

    private static func guess(_ client: BlockingClient, _ passcode: String) throws -> CofferError? {
        do {
            try client.unlock(passcode)
            return nil
        } catch let error as CofferError {
            return error
        }
    }

    /// Fails a number of attempts, and advances the clock by each delay.
    private static func fail(_ count: Int, _ timed: TimedServer) throws {
        for number in 1...count {
            let error = try #require(try guess(timed.client, "wrong \(number)"))
            #expect(error.code == .authFailed)
            if number <= delays.count { timed.clock.advance(by: Double(delays[number - 1])) }
        }
    }

    @Test func `each failure costs the time of the table, which error and status tell`() throws {
        let timed = try TimedServer()
        for (index, seconds) in Self.delays.enumerated() {
            let error = try #require(try Self.guess(timed.client, "wrong \(index)"))
            #expect(error.code == .authFailed)
            #expect(error.retry == (seconds == 0 ? .never : .afterDelay(seconds: seconds)), "failure \(index + 1)")
            let status = try timed.client.status()
            #expect(status.failedAttempts == index + 1)
            #expect(status.retrySeconds == (seconds == 0 ? nil : seconds))
            if seconds == 0 { continue }
            timed.clock.advance(by: Double(seconds) - 1)
            let early = try #require(try Self.guess(timed.client, DaemonProcess.passcode), "the right one, too early")
            #expect(early.retry == .afterDelay(seconds: 1))
            #expect(try timed.client.status().failedAttempts == index + 1, "what was not looked at does not count")
            timed.clock.advance(by: 1)
        }
        #expect(try Self.guess(timed.client, DaemonProcess.passcode) == nil)
        #expect(try timed.client.status().failedAttempts == 0)
    }

    @Test func `the tenth ends the attempts, and only a recovery key opens the vault`() throws {
        let timed = try TimedServer()
        let passcode: SecretBytes? = try SecretBytes(DaemonProcess.passcode.utf8)
        let recoveryKey = try timed.client.addKeyslot(with: passcode).takePayload()
        try timed.client.put("a", [1])
        _ = try timed.client.lock(graceSeconds: 0)
        try Self.fail(10, timed)
        timed.clock.advance(by: 10_000_000)
        let error = try #require(try Self.guess(timed.client, DaemonProcess.passcode))
        #expect(error.code == .authFailed)
        #expect(error.retry == .never)
        #expect(try timed.client.status().attemptsEnded)
        _ = try timed.client.unlock(recoveryKey: recoveryKey)
        #expect(try timed.client.get("a") == [1])
    }

    @Test func `the tenth erases the vault, where that is turned on, and the ninth does not`() throws {
        let clock = ManualClock()
        let server = try TestServer(clock: clock.clock)
        let client = try server.connect()
        let passcode: SecretBytes? = try SecretBytes(DaemonProcess.passcode.utf8)
        _ = try client.initialize(passcode: passcode, kdf: .interactive, hasNoRecoveryKey: true, erasesData: true)
        try client.put("a", [1])
        for number in 1...9 {
            _ = try Self.guess(client, "wrong \(number)")
            clock.advance(by: Double(Self.delays[number - 1]))
        }
        #expect(try client.get("a") == [1])
        let last = try #require(try Self.guess(client, "wrong 10"))
        #expect(last.code == .authFailed)
        #expect(last.message.hasSuffix("and the vault is erased"))
        #expect(try client.status().state == .noVault)
        #expect(try Outcome { _ = try client.get("a") } == .refused(.notAvailable))
        let left = server.directory.appending("state")
        #expect(try Directory(openingPath: left).contents(of: "keybag", limit: 1) == nil)
        #expect(try Directory(openingPath: left).contents(of: "device.key", limit: 1) == nil)
    }

    @Test func `every way to show a passcode counts, and waits`() throws {
        let timed = try TimedServer()
        func wrong(_ number: Int) throws -> SecretBytes { try SecretBytes("wrong \(number)".utf8) }
        let new = try SecretBytes("new".utf8)
        let client = timed.client
        #expect(try Outcome { _ = try client.changePasscode(with: try wrong(1), to: new) } == .refused(.authFailed))
        #expect(
            try Outcome { _ = try client.removePasscode(with: try wrong(2), destroying: 0) } == .refused(.authFailed)
        )
        #expect(try Outcome { _ = try client.addKeyslot(with: try wrong(3)) } == .refused(.authFailed))
        #expect(
            try Outcome { _ = try client.testKeyslot(with: try wrong(4), as: .passcode) } == .refused(.authFailed)
        )
        #expect(try client.status().failedAttempts == 4)
        let right: SecretBytes? = try SecretBytes(DaemonProcess.passcode.utf8)
        #expect(try Outcome { _ = try client.addKeyslot(with: right) } == .refused(.authFailed))
        timed.clock.advance(by: 60)
        #expect(try Outcome { _ = try client.removeKeyslot(2, with: try wrong(5)) } == .refused(.authFailed))
        #expect(try client.status().failedAttempts == 5)
        #expect(try client.status().state == .unlocked, "a wrong passcode locks nothing")
    }

    @Test func `a daemon that comes up again starts the delay over`() throws {
        let directory = try TemporaryDirectory()
        let clock = ManualClock()
        do {
            let server = try TestServer(in: directory, clock: clock.clock)
            let client = try server.connect()
            try client.makeVault()
            for number in 1...4 { _ = try Self.guess(client, "wrong \(number)") }
            clock.advance(by: 50)
            #expect(try client.status().retrySeconds == 10)
        }
        let server = try TestServer(in: directory, clock: clock.clock)
        let client = try server.connect()
        #expect(becomesTrue { try client.status().retrySeconds == 60 })
        #expect(try Self.guess(client, DaemonProcess.passcode)?.retry == .afterDelay(seconds: 60))
        clock.advance(by: 60)
        #expect(try Self.guess(client, DaemonProcess.passcode) == nil)
    }
}
