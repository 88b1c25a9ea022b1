import CofferClient
import CofferCore
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Synchronization
import Testing

/// Events of the machine and of sessions, and the users whose vault they lock.
@Suite struct PresenceTests {
    private static let (anna, bert): (UInt32, UInt32) = (1000, 1001)

    // MARK: The decision

    /// A policy with one setting changed.
    private static func policy(_ change: (inout Presence.Policy) -> Void = { _ in }) -> Presence.Policy {
        var policy = Presence.Policy()
        change(&policy)
        return policy
    }

    private static func presence(
        _ policy: Presence.Policy = Presence.Policy(),
        of users: Set<UInt32> = [anna],
        loggedIn: Set<UInt32> = [anna]
    ) -> Presence {
        var presence = Presence(policy)
        presence.noteUnlock(by: users) { loggedIn.contains($0) }
        return presence
    }

    @Test func `a machine that is about to sleep locks, whoever has unlocked`() {
        var presence = Presence(Presence.Policy())
        #expect(presence.cause(for: .sleep) { _ in false } == .sleep)
        var careless = Presence(Self.policy { $0.locksOnSleep = false })
        #expect(careless.cause(for: .sleep) { _ in false } == nil)
    }

    @Test func `a session that is locked counts where its user has unlocked, and until the vault is locked`() {
        var presence = Self.presence()
        #expect(presence.cause(for: .sessionLock(userID: Self.bert)) { _ in true } == nil)
        let cause = presence.cause(for: .sessionLock(userID: Self.anna)) { _ in true }
        #expect(cause == .sessionLock(userID: Self.anna))
        presence.leave()
        #expect(presence.cause(for: .sessionLock(userID: Self.anna)) { _ in true } == nil)
        var careless = Self.presence(Self.policy { $0.locksOnSessionLock = false })
        #expect(careless.cause(for: .sessionLock(userID: Self.anna)) { _ in true } == nil)
    }

    @Test func `the last logout of one who has unlocked counts, and only that`() {
        var presence = Self.presence(of: [Self.anna, Self.bert], loggedIn: [Self.anna, Self.bert])
        #expect(presence.cause(for: .logins) { _ in true } == nil)
        #expect(presence.cause(for: .logins) { $0 != Self.bert } == .logout(userID: Self.bert))
        #expect(presence.cause(for: .logins) { $0 != Self.bert } == nil, "it was told already")
        var other = Self.presence(loggedIn: [Self.anna, Self.bert])
        #expect(other.cause(for: .logins) { $0 == Self.anna } == nil, "the other one has unlocked nothing")
        var careless = Self.presence(Self.policy { $0.locksOnLogout = false })
        #expect(careless.cause(for: .logins) { _ in false } == nil)
    }

    @Test func `who was never logged in does not log out, and who logs in later does`() {
        var presence = Self.presence(loggedIn: [])
        #expect(presence.cause(for: .logins) { _ in false } == nil)
        #expect(presence.cause(for: .logins) { _ in true } == nil)
        #expect(presence.cause(for: .logins) { _ in false } == .logout(userID: Self.anna))
    }

    // MARK: The server

    /// A server with the surroundings of the test.
    private struct Place {
        let clock = ManualClock()
        let loggedIn = Shared<Set<UInt32>>([PresenceTests.anna])
        let told = Shared<[Bool]>([])
        let server: TestServer
        let client: BlockingClient

        init(
            _ policy: Presence.Policy = Presence.Policy(),
            lockAfterSeconds: Int? = nil,
            hasSeat: Bool = true
        ) throws {
            let (loggedIn, told) = (loggedIn, told)
            server = try TestServer(clock: clock.clock) { configuration in
                configuration.locking.times.lockAfterSeconds = lockAfterSeconds
                configuration.locking.presence = policy
                configuration.identify = { _, _ in
                    var identity = ClientIdentity(userID: geteuid(), groupID: getegid())
                    identity.loginUserID = PresenceTests.anna
                    return identity
                }
            } surroundings: {
                Surroundings(
                    isLoggedIn: { loggedIn.value.contains($0) },
                    hasSeat: { hasSeat },
                    unlockedDidChange: { told.value.append($0) }
                )
            }
            client = try server.connect()
            try client.makeVault(passcode: DaemonProcess.passcode)
        }

        var state: VaultState { get throws { try client.status().state } }

        /// The states of the vault and their reasons, according to the audit.
        func states() throws -> [String] {
            try client.auditRecords(AuditQuery(), after: 0).records.filter { $0.action == "vault.state" }
                .map { $0.state.rawValue + ($0.reason.map { ": \($0)" } ?? "") }
        }
    }

    @Test func `before the machine sleeps the keys are gone, without grace, and then it is let go`() throws {
        let place = try Place()
        #expect(place.told.value == [true])
        place.server.take(.sleep)
        #expect(place.told.value == [true, false])
        #expect(try place.state == .locked)
        let states = try place.states()
        #expect(states.suffix(2) == ["locking: the machine goes to sleep", "locked: the machine goes to sleep"])
        try place.client.unlock()
        #expect(place.told.value == [true, false, true])
    }

    @Test func `sleep ends a grace that is under way`() throws {
        let place = try Place()
        _ = try place.client.lock()
        #expect(try place.state == .locking)
        #expect(place.told.value == [true], "there are keys to lose until the grace is over")
        place.server.take(.sleep)
        #expect(try place.state == .locked)
        let states = try place.states()
        #expect(states.suffix(2) == ["locking", "locked: the machine goes to sleep"])
    }

    @Test func `sleep leaves a vault unlocked where that is set`() throws {
        let place = try Place(Self.policy { $0.locksOnSleep = false })
        place.server.take(.sleep)
        #expect(try place.state == .unlocked)
    }

    @Test(arguments: [true, false])
    func `a session of the login, or of the process, that is locked locks with the grace`(isOfLogin: Bool) throws {
        let place = try Place()
        place.server.take(.sessionLock(userID: Self.bert))
        #expect(try place.state == .unlocked)
        let userID = isOfLogin ? Self.anna : geteuid()
        place.server.take(.sessionLock(userID: userID))
        #expect(try place.state == .locking)
        place.clock.advance(by: 10)
        #expect(try place.state == .locked)
        #expect(place.told.value == [true, false])
        let reason = "user \(userID) has locked a session"
        let states = try place.states()
        #expect(states.suffix(2) == ["locking: \(reason)", "locked: \(reason)"])
    }

    @Test func `the last logout of who has unlocked locks`() throws {
        let place = try Place()
        place.server.take(.logins)
        #expect(try place.state == .unlocked)
        place.loggedIn.value = []
        place.server.take(.logins)
        #expect(try place.state == .locking)
        let states = try place.states()
        #expect(states.last == "locking: user \(Self.anna) has logged out")
    }

    @Test func `what a client has locked, and what nobody has used, is told apart`() throws {
        let place = try Place(lockAfterSeconds: 100)
        _ = try place.client.lock(graceSeconds: 0)
        place.server.take(.sessionLock(userID: Self.anna))
        try place.client.unlock()
        place.clock.advance(by: 200)
        #expect(try place.state == .locked)
        let reason = "no key was used for the time of the idle lock"
        let states = try place.states()
        #expect(
            states.suffix(5) == ["locking", "locked", "unlocked", "locking: \(reason)", "locked: \(reason)"],
            "\(states)"
        )
    }

    @Test func `nobody is asked or told where nothing is to lock`() throws {
        let place = try Place(
            Self.policy {
                $0.locksOnSleep = false
                $0.locksOnSessionLock = false
                $0.locksOnLogout = false
            }
        )
        _ = try place.client.lock(graceSeconds: 0)
        #expect(place.told.value.isEmpty)
    }

    // MARK: Idle time

    @Test(arguments: [(nil, false, true), (nil, true, false), (0, false, false)] as [(Int?, Bool, Bool)])
    func `without a seat the vault locks after a quarter of an hour, unless something else is set`(
        lockAfterSeconds: Int?,
        hasSeat: Bool,
        locks: Bool
    ) throws {
        let place = try Place(lockAfterSeconds: lockAfterSeconds, hasSeat: hasSeat)
        let status = try place.client.status()
        #expect(status.lockAfterSeconds == (locks ? 900 : nil))
        #expect(status.lockAfterIsDefault == locks)
        place.clock.advance(by: 899)
        #expect(try place.state == .unlocked)
        place.clock.advance(by: 1)
        #expect(try place.state == (locks ? .locking : .unlocked))
    }
}
