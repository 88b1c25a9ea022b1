import CofferCore
import CofferKeys
import CofferTestSupport
import Testing

extension VaultKeys {
    /// Adds the slot of a new recovery key in a vault without a passcode.
    fileprivate func addSlot() throws -> (number: Int, text: [UInt8]) {
        let recoveryKey = try NewRecoveryKey()
        let change = try addingSlot(recoveryKey)
        let number = change.addedSlot ?? 0
        adopt(try show(.nothing, change).takeKeys())
        return (number, recoveryKey.takeBytes())
    }

    fileprivate func slot(of recoveryKey: [UInt8]) throws -> Int? {
        do throws(CofferError) {
            let credential: GivenCredential
            do { credential = try .recoveryKey(recoveryKey) } catch { return nil }
            return try show(credential).slot
        } catch {
            #expect(error.code == .authFailed)
            return nil
        }
    }
}

@Suite struct `Keyslots` {
    @Test func `are as many as may be, each opened by its own recovery key`() throws {
        let vault = try Vault(hasPasscode: false)
        let keys = try vault.open()
        let belongings = try Belongings(keys)
        #expect(keys.slots == [KeyslotInfo(number: 1, kind: .device)])
        var added: [(number: Int, text: [UInt8])] = []
        for number in 2...Limits.keyslots {
            added.append(try keys.addSlot())
            #expect(added.last?.number == number)
        }
        let recoverySlots = (2...Limits.keyslots).map { KeyslotInfo(number: $0, kind: .recoveryKey) }
        #expect(keys.slots.dropFirst() == recoverySlots[...])
        #expect(throws: CofferError(.param, "")) { _ = try keys.addSlot() }
        let reopened = try vault.open()
        #expect(reopened.slots == keys.slots)
        for (number, text) in added { #expect(try reopened.slot(of: text) == number) }
        // Without a passcode each keybag has another key for what wants one.
        #expect(belongings.lost(with: reopened) == [.item(.whenPasscodeSetThisDeviceOnly)])
        let change = try KeybagChange.passcode("mine")
        #expect(reopened.refusal(of: .nothing, change) == nil)
        let first = KeyslotInfo(number: 1, kind: .passcode)
        #expect(reopened.slots == [first] + recoverySlots, "a passcode change keeps the others")
        for (number, text) in added { #expect(try reopened.slot(of: text) == number) }
    }

    @Test func `are removed one by one, and the key of a removed one opens nothing that is there`() throws {
        let vault = try Vault(hasPasscode: false)
        let keys = try vault.open()
        let (one, other) = (try keys.addSlot(), try keys.addSlot())
        let old = try #require(vault.temporary.contents("keybag"))
        #expect(keys.refusal(of: .nothing, try keys.removingSlot(one.number)) == nil)
        #expect(keys.slots.map(\.number) == [1, other.number])
        for keys in [keys, try vault.open()] {
            #expect(try keys.slot(of: one.text) == nil)
            #expect(try keys.slot(of: other.text) == other.number)
        }
        let new = try #require(vault.temporary.contents("keybag"))
        let place = recoverySlot(old) + 4
        #expect(!new.contains(old[place..<(place + 32)]), "its public key is gone, too")
        #expect(throws: CofferError(.itemNotFound, "")) { _ = try keys.removingSlot(one.number) }
        let next = try keys.addSlot()
        #expect(next.number == one.number, "the number is free again, and not the way in")
        #expect(try keys.slot(of: one.text) == nil)
    }

    @Test func `of a removed recovery key are in an older copy of the keybag yet, which it opens`() throws {
        let vault = try Vault(hasPasscode: false)
        let keys = try vault.open()
        let added = try keys.addSlot()
        let old = try #require(vault.temporary.contents("keybag"))
        #expect(keys.refusal(of: .nothing, try keys.removingSlot(added.number)) == nil)
        try vault.temporary.write(old, to: "keybag")
        #expect(try vault.open().slot(of: added.text) == added.number)
    }

    @Test(arguments: [true, false])
    func `don't lose the first of them, nor one that is not there`(hasPasscode: Bool) throws {
        let keys = try Vault(hasPasscode: hasPasscode, hasRecoveryKey: true).open()
        #expect(throws: CofferError(.param, "")) { _ = try keys.removingSlot(1) }
        for number in [Int.min, -1, 0, 3, 255, 256, 257, 258, .max] {
            #expect(throws: CofferError(.itemNotFound, "")) { _ = try keys.removingSlot(number) }
        }
    }

    @Test func `are changed with the passcode, which stays what it was`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        let keys = try vault.open(.unlocked)
        let belongings = try Belongings(keys)
        #expect(keys.refusal(of: try .passcode("wrong"), try keys.removingSlot(2))?.code == .authFailed)
        #expect(keys.slots.count == 2)
        #expect(keys.refusal(of: try .passcode(Template.passcode), try keys.removingSlot(2)) == nil)
        #expect(keys.slots == [KeyslotInfo(number: 1, kind: .passcode)])
        let reopened = try vault.open(.unlocked)
        #expect(belongings.lost(with: reopened) == [])
        #expect(try reopened.slot(of: vault.recoveryKey) == nil)
    }

    @Test func `say nothing of a recovery key: neither its text nor what it is made of`() throws {
        let vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
        let keybag = try #require(vault.temporary.contents("keybag"))
        #expect(!keybag.contains(vault.recoveryKey))
        #expect(!keybag.contains(vault.recoveryKey.filter { $0 != UInt8(ascii: "-") }))
    }
}

/// Where the second slot of a keybag begins: behind that of the passcode or of the device key, as FORMATS.md has them.
private func recoverySlot(_ body: [UInt8]) -> Int { 148 + Int(body[146]) * 256 + Int(body[147]) }

/// Attacks with the disk and the device key, but without a way to open the keybag.
private struct Tampering: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// How the owner's recovery key is refused.
    let withRecoveryKey: ErrorCode
    let change: @Sendable (inout [UInt8]) -> Void

    static let all: [Tampering] = [
        Tampering(testDescription: "another public key in a slot", withRecoveryKey: .authFailed) { body in
            let slot = recoverySlot(body)
            body.replaceSubrange((slot + 4)..<(slot + 36), with: [UInt8](repeating: 9, count: 32))
        },
        Tampering(testDescription: "one slot more", withRecoveryKey: .decode) { body in
            let start = recoverySlot(body)
            var slot = Array(body[start..<(start + 140)])
            slot[0] = 3
            slot.replaceSubrange(4..<36, with: [UInt8](repeating: 9, count: 32))
            body.insert(contentsOf: slot, at: start + 140)
            body[143] = 3
        },
        Tampering(testDescription: "one slot less", withRecoveryKey: .authFailed) { body in
            let start = recoverySlot(body)
            body.removeSubrange(start..<(start + 140))
            body[143] = 1
        },
        Tampering(testDescription: "another number of a slot", withRecoveryKey: .authFailed) { body in
            body[recoverySlot(body)] = 9
        },
        Tampering(testDescription: "erasing turned on", withRecoveryKey: .decode) { body in body[142] = 1 },
        Tampering(testDescription: "another public key of class B", withRecoveryKey: .decode) { body in
            body.replaceSubrange(42..<74, with: [UInt8](repeating: 9, count: 32))
        },
        Tampering(testDescription: "another public key of deposits", withRecoveryKey: .decode) { body in
            body.replaceSubrange(74..<106, with: [UInt8](repeating: 9, count: 32))
        },
        Tampering(testDescription: "another public key of metadata", withRecoveryKey: .decode) { body in
            body.replaceSubrange(106..<138, with: [UInt8](repeating: 9, count: 32))
        },
        Tampering(testDescription: "another count of moves", withRecoveryKey: .decode) { body in body[141] = 9 },
        Tampering(testDescription: "another wrapped key", withRecoveryKey: .decode) { body in
            body[recoverySlot(body) + 224] ^= 1
        },
    ]
}

@Suite struct `A keybag that was changed by who has the device key` {
    @Test(arguments: Tampering.all)
    private func `is detected when it is opened`(tampering: Tampering) throws {
        let vault = try Vault(hasRecoveryKey: true)
        try vault.forge(tampering.change)
        let keys = try vault.open()
        #expect(try keys.attempt(Template.passcode) == .decode)
        #expect(keys.state == .beforeFirstUnlock)
        let error = keys.refusal(of: try .recoveryKey(vault.recoveryKey))
        #expect(error?.code == tampering.withRecoveryKey)
    }

    @Test(arguments: Tampering.all)
    private func `is detected immediately if there is no passcode`(tampering: Tampering) throws {
        let vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
        try vault.forge(tampering.change)
        #expect(vault.refusal() == .decode)
    }
}
