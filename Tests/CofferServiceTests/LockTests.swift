import CofferClient
import CofferCore
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What locks a vault, and what a lock does, with the clock of the test.
@Suite struct LockTests {
    private func read(_ name: String, with client: BlockingClient) throws -> Outcome {
        try Outcome { _ = try client.get(name) }
    }

    // MARK: Grace

    @Test func `everything works during the grace, and class A is gone when it ends`() throws {
        let timed = try TimedServer()
        try timed.client.put("a", [1])
        let left = try timed.client.lock().graceMilliseconds
        #expect(left == 10_000)
        timed.clock.advance(by: 9.999)
        #expect(try timed.state() == .locking)
        #expect(try timed.client.status().graceMilliseconds == 1)
        #expect(try timed.client.get("a") == [1])
        timed.clock.advance(by: 0.001)
        #expect(try read("a", with: timed.client) == .locked)
        #expect(try timed.client.status().graceMilliseconds == nil)
    }

    @Test func `an unlock during the grace calls the lock off`() throws {
        let timed = try TimedServer()
        try timed.client.put("a", [1])
        _ = try timed.client.lock()
        timed.clock.advance(by: 9)
        try timed.client.unlock()
        timed.clock.advance(by: 1_000_000)
        #expect(try timed.state() == .unlocked)
        #expect(try timed.client.get("a") == [1])
    }

    @Test func `a second lock with a grace of 0 ends the grace of the first`() throws {
        let timed = try TimedServer()
        _ = try timed.client.lock()
        #expect(try timed.client.lock(graceSeconds: 0).state == .locked)
    }

    // MARK: What is being sent

    @Test(arguments: [1, 60_000, 99_999])
    func `a payload that a lock comes into is wiped, and nothing of it is stored`(cut: Int) throws {
        let timed = try TimedServer()
        try timed.client.put("former", [7]) { $0.accessibility = .always }
        let payload = pseudoRandomBytes(100_000)
        for name in ["former", "new"] {
            var raw = try timed.connectRaw()
            let params: JSONObject = ["name": .string(name), "kind": "document", "protection": "none"]
            let json = Request(id: .integer(1), method: CofferWire.Method.itemPut.rawValue, params: params).serialized()
            let header = FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count)
            try raw.write(header + json + payload.dropLast(cut))
            let hasCome = raw.isTaken
            #expect(hasCome)
            #expect(try timed.client.lock(graceSeconds: 0).state == .locked)
            try raw.write(payload.suffix(cut))
            let refused = try raw.answer()
            #expect(refused == (1, .interactionNotAllowed))
            // The connection continues with the next message.
            try raw.send(.hello, ["protocol": 1])
            let next = try raw.refusal()
            #expect(next == nil)
            try timed.client.unlock()
        }
        #expect(try timed.client.get("former") == [7])
        #expect(try Outcome { _ = try timed.client.get("new") } == .refused(.itemNotFound))
    }

    // MARK: Idle time

    @Test func `an idle vault locks, with the grace`() throws {
        let timed = try TimedServer(LockSchedule.Policy(graceSeconds: 5, lockAfterSeconds: 60))
        timed.clock.advance(by: 59)
        #expect(try timed.state() == .unlocked)
        timed.clock.advance(by: 1)
        #expect(try timed.state() == .locking)
        timed.clock.advance(by: 5)
        #expect(try timed.state() == .locked)
    }

    @Test func `a use of a key that the passcode protects begins the idle time anew, and nothing else does`() throws {
        let timed = try TimedServer(LockSchedule.Policy(graceSeconds: 0, lockAfterSeconds: 60))
        let client = timed.client
        try client.put("always", [1]) { $0.accessibility = .always }
        try client.put("background", [1]) { $0.accessibility = .afterFirstUnlock }
        let uses: [() throws -> Void] = [
            { try client.put("a", [1]) }, { _ = try client.get("a") }, { _ = try client.get("background") },
            { try client.put("f", [1]) { $0.kind = .database } }, { _ = try client.get("f") },
        ]
        for use in uses {
            timed.clock.advance(by: 59)
            try use()
        }
        #expect(try timed.state() == .unlocked)
        timed.clock.advance(by: 30)
        // None of these uses a key that depends on the passcode.
        _ = try client.get("always")
        _ = try client.list()
        _ = try client.show(try ItemName("a"))
        try client.remove(try ItemName("f"))
        timed.clock.advance(by: 30)
        #expect(try timed.state() == .locked)
    }

    // Each step exceeds the pipe and the read-ahead, so that each one uses the key.

    @Test func `a slow read is a use up to its end`() throws {
        let timed = try TimedServer(LockSchedule.Policy(graceSeconds: 0, lockAfterSeconds: 60))
        let content = pseudoRandomBytes(8 << 20)
        try timed.client.put("a/file", content) { $0.protectionClass = .complete }
        let pipe = try TransferPipe()
        var slow = try timed.connectRaw()
        try slow.send(.itemGet, ["name": "a/file"], passing: pipe.writing)
        pipe.closeWriting()
        var received: [UInt8] = []
        for _ in 0..<3 {
            received += pipe.read(2 << 20)
            timed.clock.advance(by: 59)
            #expect(try timed.state() == .unlocked)
        }
        received += pipe.drain()
        #expect(try slow.refusal() == nil)
        #expect(received == content)
        try expectLock(of: timed, secondsFromNow: 60)
    }

    @Test func `a slow write is a use up to its end`() throws {
        let timed = try TimedServer(LockSchedule.Policy(graceSeconds: 0, lockAfterSeconds: 60))
        let content = pseudoRandomBytes(2 << 20)
        let pipe = try TransferPipe()
        var slow = try timed.connectRaw()
        try slow.send(.itemPut, ["name": "a/file", "protection": "complete"], passing: pipe.reading)
        pipe.closeReading()
        for _ in 0..<4 {
            pipe.write(content)
            timed.clock.advance(by: 59)
            #expect(try timed.state() == .unlocked)
        }
        pipe.closeWriting()
        #expect(try slow.refusal() == nil)
        try expectLock(of: timed, secondsFromNow: 60)
    }

    private func expectLock(of timed: TimedServer, secondsFromNow seconds: Double) throws {
        timed.clock.advance(by: seconds - 1)
        #expect(try timed.state() == .unlocked)
        timed.clock.advance(by: 1)
        #expect(try timed.state() == .locked)
    }

    @Test func `a vault without a passcode never locks`() throws {
        let policy = LockSchedule.Policy(graceSeconds: 0, lockAfterSeconds: 60, forgetAfterSeconds: 100)
        let timed = try TimedServer(policy, passcode: nil, locksOnLastDisconnect: true)
        try timed.client.put("a", [1])
        timed.clock.advance(by: 1_000_000)
        #expect(try timed.state() == .noPasscode)
        #expect(try timed.client.get("a") == [1])
    }

    @Test func `a vault that gets a passcode begins to lock, and one that loses it stops`() throws {
        let timed = try TimedServer(LockSchedule.Policy(lockAfterSeconds: 60), passcode: nil)
        var raw = try timed.connectRaw()
        try raw.send(.passcodeSet, ["kdf": "interactive"], payload: Array(DaemonProcess.passcode.utf8))
        let isRefused = try raw.refusal()
        #expect(isRefused == nil)
        timed.clock.advance(by: 60)
        #expect(try timed.state() == .locking)
        try raw.send(.passcodeRemove, ["destroys": 0], payload: Array(DaemonProcess.passcode.utf8))
        let isRefusedAgain = try raw.refusal()
        #expect(isRefusedAgain == nil)
        timed.clock.advance(by: 1_000_000)
        #expect(try timed.state() == .noPasscode)
    }

    @Test func `a vault that is erased has nothing to lock`() throws {
        let timed = try TimedServer(LockSchedule.Policy(lockAfterSeconds: 60))
        _ = try timed.client.lock()
        try timed.client.erase(vaultID: try #require(try timed.client.status().vaultID))
        timed.clock.advance(by: 1_000_000)
        #expect(try timed.state() == .noVault)
        #expect(try timed.client.status().graceMilliseconds == nil)
    }

    // MARK: Sleep

    /// The seconds of a suspend, and the state after it: idle after 60, grace of 10, CX 600, 72 h.
    @Test(
        arguments: [
            (59, .unlocked), (60, .locking), (69, .locking), (70, .locked), (669, .locked), (670, .lockedExpired),
            (259_269, .lockedExpired), (259_270, .beforeFirstUnlock), (10_000_000, .beforeFirstUnlock),
        ] as [(Double, VaultState)]
    )
    func `a machine that slept past a time wakes up as if it had been awake`(
        seconds: Double,
        expected: VaultState
    ) throws {
        let timed = try TimedServer(LockSchedule.Policy(lockAfterSeconds: 60))
        try timed.client.put("a", [1])
        // No timer fires: the request arrives first.
        timed.clock.sleep(for: seconds)
        let isReadable = expected == .unlocked || expected == .locking
        #expect(try read("a", with: timed.client) == (isReadable ? .done : .locked))
        #expect(try timed.state() == expected)
    }

    @Test func `a machine that fell asleep in the grace wakes up locked`() throws {
        let timed = try TimedServer()
        try timed.client.put("a", [1])
        _ = try timed.client.lock()
        timed.clock.sleep(for: 11)
        #expect(try read("a", with: timed.client) == .locked)
    }

    // MARK: While locked

    @Test(arguments: [(600, 259_200), (1, 2), (100, 50), (0, 10)])
    func `a vault that stays locked goes on losing keys at the times that are set`(inactive: Int, forget: Int) throws {
        let timed = try TimedServer(
            LockSchedule.Policy(inactiveAfterSeconds: inactive, forgetAfterSeconds: forget)
        )
        let client = timed.client
        for (name, protectionClass) in [
            ("cx", ProtectionClass.completeWhenUserInactive), ("c", .completeUntilFirstUserAuthentication),
        ] {
            try client.put(name, [1]) {
                $0.kind = .document
                $0.protectionClass = protectionClass
            }
        }
        _ = try client.lock(graceSeconds: 0)
        for second in [0, 1, 2, 10, 49, 50, 99, 100, 599, 600, 259_199, 259_200] {
            let now = Double(timed.clock.now)
            timed.clock.advance(by: Double(second) - (now / 1e9 - 86_400))
            let state: VaultState =
                second >= forget ? .beforeFirstUnlock : second >= inactive ? .lockedExpired : .locked
            #expect(try timed.state() == state, "\(second)")
            #expect(try read("cx", with: client) == (state == .locked ? .done : .locked), "\(second)")
            #expect(try read("c", with: client) == (state == .beforeFirstUnlock ? .locked : .done), "\(second)")
        }
        try client.unlock()
        #expect(try client.get("cx") == [1])
    }

    @Test func `a vault is never forgotten where that is turned off`() throws {
        let timed = try TimedServer(LockSchedule.Policy(forgetAfterSeconds: nil))
        _ = try timed.client.lock(graceSeconds: 0)
        timed.clock.advance(by: 100_000_000)
        #expect(try timed.state() == .lockedExpired)
    }

    @Test func `only a vault that stays locked loses more`() throws {
        let timed = try TimedServer()
        _ = try timed.client.lock(graceSeconds: 0)
        timed.clock.advance(by: 599)
        try timed.client.unlock()
        timed.clock.advance(by: 1_000_000)
        #expect(try timed.state() == .unlocked)
    }

    // MARK: Pending transfers

    /// The classes whose transfers end at a step.
    private static let ending: [(seconds: Double, state: VaultState, classes: Set<ProtectionClass>)] = [
        (0, .locked, [.complete]),
        (600, .lockedExpired, [.complete, .completeWhenUserInactive]),
        (
            259_200, .beforeFirstUnlock,
            [.complete, .completeWhenUserInactive, .completeUntilFirstUserAuthentication]
        ),
    ]

    @Test(arguments: ending)
    func `reads under way end whole, or locked where the step takes their key`(
        seconds: Double,
        state: VaultState,
        classes: Set<ProtectionClass>
    ) throws {
        let timed = try TimedServer()
        let content = pseudoRandomBytes(1 << 20)
        for protectionClass in ProtectionClass.allCases {
            try timed.client.put("f/\(protectionClass)", content) { $0.protectionClass = protectionClass }
        }
        for protectionClass in ProtectionClass.allCases {
            try timed.client.unlock()
            let pipe = try TransferPipe()
            var reader = try timed.connectRaw()
            try reader.send(.itemGet, ["name": .string("f/\(protectionClass)")], passing: pipe.writing)
            pipe.closeWriting()
            let first = pipe.readByte()
            _ = try timed.client.lock(graceSeconds: 0)
            timed.clock.advance(by: seconds)
            #expect(try timed.state() == state)
            let received = first + pipe.drain()
            let isEnded = classes.contains(protectionClass)
            #expect(try reader.refusal() == (isEnded ? .interactionNotAllowed : nil), "\(protectionClass)")
            #expect(isEnded ? content.starts(with: received) : content == received, "\(protectionClass)")
        }
    }

    @Test(arguments: ending)
    func `writes under way end whole, or leave the old item where the step takes their key`(
        seconds: Double,
        state: VaultState,
        classes: Set<ProtectionClass>
    ) throws {
        let timed = try TimedServer()
        let old = pseudoRandomBytes(100_000, seed: 1)
        let new = pseudoRandomBytes(200_000, seed: 2)
        for protectionClass in ProtectionClass.allCases {
            try timed.client.put("f/\(protectionClass)", old) { $0.protectionClass = protectionClass }
        }
        for protectionClass in ProtectionClass.allCases {
            try timed.client.unlock()
            let pipe = try TransferPipe()
            var writer = try timed.connectRaw()
            try writer.send(.itemPut, ["name": .string("f/\(protectionClass)")], passing: pipe.reading)
            pipe.closeReading()
            // More than the pipe and the bytes that the decision reads, so the transfer has begun when this
            // returns.
            pipe.write(new.prefix(170_000))
            _ = try timed.client.lock(graceSeconds: 0)
            timed.clock.advance(by: seconds)
            #expect(try timed.state() == state)
            pipe.write(new.dropFirst(170_000))
            pipe.closeWriting()
            let isEnded = classes.contains(protectionClass)
            #expect(try writer.refusal() == (isEnded ? .interactionNotAllowed : nil), "\(protectionClass)")
            try timed.client.unlock()
            let content = try timed.client.get("f/\(protectionClass)")
            #expect(content == (isEnded ? old : new), "\(protectionClass)")
        }
    }

    @Test func `a server that ends in a grace lets go of the vault`() throws {
        let timed = try TimedServer()
        _ = try timed.client.lock()
        timed.clock.sleep(for: 100)
        let directory = timed.server.directory
        _ = consume timed
        let server = try TestServer(in: directory)
        let next = try server.connect()
        #expect(becomesTrue { try next.status().state == .beforeFirstUnlock })
    }

    // MARK: The last connection

    @Test func `the last connection that goes locks the vault, where that is set`() throws {
        let timed = try TimedServer(locksOnLastDisconnect: true)
        do { _ = try timed.server.connect().status() }
        #expect(try timed.state() == .unlocked, "it was not the last one")
        let server = timed.server
        let clock = timed.clock
        _ = consume timed
        let next = try reconnect(server)
        #expect(try next.status().state == .locking, "a new connection does not call it off")
        clock.advance(by: 10)
        #expect(try next.status().state == .locked)
    }

    @Test func `an unlock calls off what the last connection began`() throws {
        let timed = try TimedServer(locksOnLastDisconnect: true)
        let server = timed.server
        let clock = timed.clock
        _ = consume timed
        let next = try reconnect(server)
        try next.unlock()
        clock.advance(by: 1000)
        #expect(try next.status().state == .unlocked)
    }

    /// Reconnects after the last connection was closed; until the server has noticed that, the new one is not
    /// the only one.
    private func reconnect(_ server: TestServer, attempts: Int = 200) throws -> BlockingClient {
        for _ in 1..<attempts {
            usleep(20_000)
            let client = try server.connect()
            if try client.status().state != .unlocked { return client }
        }
        return try server.connect()
    }

    @Test func `connections that go do not lock where that is not set`() throws {
        let timed = try TimedServer()
        let server = timed.server
        _ = consume timed
        #expect(try reconnect(server, attempts: 10).status().state == .unlocked)
    }
}
