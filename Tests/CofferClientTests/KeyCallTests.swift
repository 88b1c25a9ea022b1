import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

private let status: JSONValue = ["state": "unlocked", "version": "1", "protocol": 1]
private let willLock = "protectedDataWillBecomeUnavailable"
private let didUnlock = "protectedDataDidBecomeAvailable"

@Suite struct `A call about keys` {
    private func secret(_ text: String) throws -> SecretBytes? { try SecretBytes(text.utf8) }

    @Test func `of init brings the recovery key beside the state`() throws {
        let daemon = try ScriptedDaemon([answer(1, status, Array("ABCD-EFGH".utf8)), answer(2, status)])
        let made = try daemon.client.initialize(passcode: secret("p"), kdf: .interactive, erasesData: true)
        #expect(made.value.state == .unlocked)
        let key = made.takePayload()?.exposeBytes()
        #expect(key == Array("ABCD-EFGH".utf8))
        let declined = try daemon.client.initialize(passcode: nil, kdf: nil, hasNoRecoveryKey: true)
        let hasNone = declined.takePayload() == nil
        #expect(hasNone)
        let expected =
            request(
                1,
                "vault.init",
                ["kdf": "interactive", "noPasscode": false, "eraseData": true],
                Array("p".utf8)
            ) + request(2, "vault.init", ["noPasscode": true, "noRecoveryKey": true])
        #expect(daemon.requests == expected)
    }

    @Test func `says which credential its payload is`() throws {
        let slot: JSONValue = ["slot": 3]
        let daemon = try ScriptedDaemon([
            answer(1, status), answer(2, status), answer(3, status), answer(4, slot, [75]), answer(5, [:]),
            answer(6, slot),
        ])
        let client = daemon.client
        _ = try client.unlock(passcode: secret("p"))
        _ = try client.unlock(recoveryKey: secret("r"))
        _ = try client.removePasscode(with: secret("p"), destroying: 2)
        let added = try client.addKeyslot(with: secret("r"), as: .recoveryKey)
        #expect(added.value.number == 3)
        let key = added.takePayload()?.exposeBytes()
        #expect(key == [75])
        try client.removeKeyslot(3, with: nil)
        let opened = try client.testKeyslot(with: secret("r"))
        #expect(opened == 3)
        let recovery: JSONObject = ["credential": "recoveryKey"]
        let expected = [
            request(1, "vault.unlock", [:], Array("p".utf8)),
            request(2, "vault.unlock", recovery, Array("r".utf8)),
            request(3, "passcode.remove", ["credential": "passcode", "destroys": 2], Array("p".utf8)),
            request(4, "slot.add", recovery, Array("r".utf8)),
            request(5, "slot.remove", ["slot": 3]),
            request(6, "slot.test", recovery, Array("r".utf8)),
        ]
        #expect(daemon.requests == expected.flatMap { $0 })
    }

    @Test func `of a change sends both secrets, each behind its count`() throws {
        let daemon = try ScriptedDaemon([answer(1, status), answer(2, status)])
        let old = try SecretBytes("old".utf8)
        let new = try SecretBytes("newer".utf8)
        _ = try daemon.client.changePasscode(with: old, to: new)
        _ = try daemon.client.setPasscode(secret("first"), kdf: .sensitive, erasesData: false)
        let payload: [UInt8] = [0, 3] + Array("old".utf8) + [0, 5] + Array("newer".utf8)
        let expected =
            request(1, "passcode.change", ["credential": "passcode"], payload)
            + request(2, "passcode.set", ["kdf": "sensitive", "eraseData": false], Array("first".utf8))
        #expect(daemon.requests == expected)
    }

    @Test func `lists the slots, and names the vault that is to be erased`() throws {
        let slots: JSONValue = ["slots": [["slot": 1, "kind": "passcode"], ["slot": 7, "kind": "recoveryKey"]]]
        let daemon = try ScriptedDaemon([answer(1, slots), answer(2, [:])])
        let found = try daemon.client.keyslots()
        #expect(found == [KeyslotInfo(number: 1, kind: .passcode), KeyslotInfo(number: 7, kind: .recoveryKey)])
        let vault = ItemID()
        try daemon.client.erase(vaultID: vault)
        let expected =
            request(1, "slot.list") + request(2, "vault.erase", ["vaultID": .string(vault.hexadecimal)])
        #expect(daemon.requests == expected)
    }
}

@Suite struct `A client that watches` {
    @Test func `hears every event in its order, those that came during a call as well`() throws {
        let daemon = try ScriptedDaemon([
            answer(1, [:]), news(willLock), news("newsOfALaterVersion"), answer(2, status), news(didUnlock),
            news(willLock),
        ])
        try daemon.client.watch()
        let state = try daemon.client.status().state
        #expect(state == .unlocked)
        var events: [VaultEvent] = []
        for _ in 0..<3 { events.append(try daemon.client.nextEvent()) }
        #expect(
            events == [
                .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeAvailable,
                .protectedDataWillBecomeUnavailable,
            ]
        )
    }

    @Test func `gets the events that have come already, without any time to wait`() throws {
        let daemon = try ScriptedDaemon([answer(1, [:]), news(willLock), news(didUnlock)])
        try daemon.client.watch()
        let past = ContinuousClock.now
        #expect(try daemon.client.nextEvent(until: past) == .protectedDataWillBecomeUnavailable)
        #expect(try daemon.client.nextEvent(until: past) == .protectedDataDidBecomeAvailable)
        #expect(throws: CofferError(.notAvailable, "")) { try daemon.client.nextEvent(until: past) }
    }

    @Test func `is told when the daemon goes, and why where it says so`() throws {
        let gone = try ScriptedDaemon([answer(1, [:])])
        try gone.client.watch()
        #expect(throws: CofferError(.notAvailable, "")) { try gone.client.nextEvent() }
        let reason = CofferError(.internal, "no memory")
        let told = try ScriptedDaemon([answer(1, [:]), refusal(reason)])
        try told.client.watch()
        #expect(throws: CofferError(.internal, "")) { try told.client.nextEvent() }
    }

    @Test func `counts the events that it does not ask for in time`() throws {
        var script = [answer(1, [:])]
        for _ in 0..<2000 { script += [news(willLock)] }
        script += [news(didUnlock), answer(2, status)]
        let daemon = try ScriptedDaemon(script)
        try daemon.client.watch()
        _ = try daemon.client.status()
        var events: [VaultEvent] = []
        while let event = try? daemon.client.nextEvent() { events.append(event) }
        #expect(events.dropLast().allSatisfy { $0 == .protectedDataWillBecomeUnavailable })
        #expect(events.last == .eventsMissed(2001 - (events.count - 1)))
    }
}

@Suite struct `A vault event` {
    private static let events: [VaultEvent] = [
        .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeUnavailable, .protectedDataDidBecomeAvailable,
        .inactiveDataDidBecomeUnavailable, .firstUnlockDataDidBecomeUnavailable,
        .itemsDidChange([
            ItemChange(.renamed, in: .file, group: "g", name: "a", formerName: "b"),
            ItemChange(.added, in: .keychain, group: "g", name: nil, itemClass: .key, reference: ItemID()),
        ]),
        .attemptDidFail(FailedAttempts(count: 3, retrySeconds: 60, isEnded: false)),
        .attemptDidFail(FailedAttempts(count: 10, retrySeconds: nil, isEnded: true)), .eventsMissed(7),
    ]

    @Test(arguments: events)
    func `comes out of its notification as it went in`(event: VaultEvent) {
        #expect(VaultEvent(notification: event.notification.rawValue, event.json) == event)
    }

    @Test func `of a newer daemon is passed over where its name is not known, and missed where its members are not`() {
        #expect(VaultEvent(notification: "moonDidRise", [:]) == nil)
        #expect(VaultEvent(notification: "progress", [:]) == nil)
        let changes: JSONObject = ["changes": [["change": "borrowed", "store": "file", "group": "g", "name": "a"]]]
        #expect(VaultEvent(notification: "itemsDidChange", changes) == .eventsMissed(1))
        let more: JSONObject = ["count": 2, "phase": "full"]
        #expect(VaultEvent(notification: "eventsMissed", more) == .eventsMissed(2))
    }
}
