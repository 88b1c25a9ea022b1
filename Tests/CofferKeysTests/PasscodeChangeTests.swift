import CofferCore
import CofferKeys
import CofferSystem
import CofferTestSupport
import Testing

/// Where things are in a keybag with a slot for a recovery key.
private enum Layout {
    static let cost = 148..<156
    static let recoverySlot = 244
    static let keyCount = 384
    static let wrappedKeys = 17

    /// Everything random or made with a key, except what must not change: the ids, the check and public keys.
    static let secret: [Range<Int>] =
        [156..<244, 280..<384]
        + (0..<wrappedKeys).map { index in
            let start = keyCount + 1 + 74 * index + 2
            return start..<(start + 72)
        } + [(keyCount + 1 + 74 * wrappedKeys)..<(keyCount + 1 + 74 * wrappedKeys + 64)]
}

/// Every run of 16 bytes that must not outlive a keybag.
private func secretRuns(of keybag: [UInt8]) -> Set<[UInt8]> {
    Set(
        Layout.secret.flatMap { range in
            (range.lowerBound...(range.upperBound - 16)).map { Array(keybag[$0..<($0 + 16)]) }
        }
    )
}

private func runs(of bytes: [UInt8]) -> Set<[UInt8]> {
    bytes.count < 16 ? [] : Set((0...(bytes.count - 16)).map { Array(bytes[$0..<($0 + 16)]) })
}

@Suite struct `A passcode change` {
    @Test func `leaves every class key what it was, by the passcode and by the recovery key`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        let keys = try vault.open(.unlocked)
        let belongings = try Belongings(keys)
        let id = keys.vaultID
        let change = try KeybagChange.passcode("another")
        keys.adopt(try keys.show(.passcode(Template.passcode), change).takeKeys())
        #expect(belongings.lost(with: keys) == [])
        let reopened = try vault.open()
        #expect(reopened.vaultID == id)
        #expect(reopened.slots == keys.slots)
        try reopened.unlock("another")
        #expect(belongings.lost(with: reopened) == [])
        let recovered = try vault.open()
        recovered.adopt(try recovered.show(.recoveryKey(vault.recoveryKey)).takeKeys())
        #expect(belongings.lost(with: recovered) == [])
    }

    @Test func `makes the old keybag useless for the new passcode, and the new one for the old`() throws {
        let vault = try Vault()
        let old = try #require(vault.temporary.contents("keybag"))
        let keys = try vault.open()
        let change = try KeybagChange.passcode("another")
        #expect(keys.refusal(of: try .passcode(Template.passcode), change) == nil)
        #expect(try keys.attempt(Template.passcode) == .authFailed)
        #expect(try vault.open().attempt(Template.passcode) == .authFailed)
        #expect(try vault.open().attempt("another") == nil)
        try vault.temporary.write(old, to: "keybag")
        #expect(try vault.open().attempt("another") == .authFailed)
    }

    @Test func `carries no wrapped key, salt or tag over into the new keybag`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        let old = try #require(vault.temporary.contents("keybag"))
        #expect(Layout.secret.last?.upperBound == old.count, "the layout is that of the file")
        #expect(old[Layout.keyCount] == UInt8(Layout.wrappedKeys))
        let change = try KeybagChange.passcode("another")
        #expect(try vault.open().refusal(of: .passcode(Template.passcode), change) == nil)
        let new = try #require(vault.temporary.contents("keybag"))
        #expect(new.count == old.count)
        #expect(secretRuns(of: old).isDisjoint(with: runs(of: new)))
        let publicParts = [0..<156, 244..<280]
        for part in publicParts { #expect(new[part] == old[part]) }
        #expect(
            secretRuns(of: old).isDisjoint(
                with: publicParts.map { runs(of: Array(old[$0])) }.reduce([]) { $0.union($1) }
            )
        )
    }

    @Test func `overwrites the old keybag on the disk, and leaves none of it in the directory`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        let outside = try TemporaryDirectory()
        try vault.temporary.watch("keybag", from: outside)
        let old = try #require(outside.contents("keybag"))
        let change = try KeybagChange.passcode("another")
        #expect(try vault.open().refusal(of: .passcode(Template.passcode), change) == nil)
        #expect(outside.contents("keybag") == Array(repeating: 0, count: old.count))
        let names = try vault.temporary.names()
        #expect(names == ["attempts", "device.key", "keybag"])
        for name in names {
            let bytes = try #require(vault.temporary.contents(name))
            #expect(secretRuns(of: old).isDisjoint(with: runs(of: bytes)), "\(name)")
        }
    }

    @Test func `keeps the cost of a guess unless another is named`() throws {
        let vault = try Vault(hasPasscode: false)
        let keys = try vault.open()
        func cost() throws -> [UInt8] { Array(try #require(vault.temporary.contents("keybag"))[Layout.cost]) }
        #expect(keys.refusal(of: .nothing, try .passcode("first", cost: .interactive)) == nil)
        #expect(try cost() == [0, 0, 0, 2, 0, 1, 0, 0])
        #expect(keys.refusal(of: try .passcode("first"), try .passcode("second", cost: nil)) == nil)
        #expect(try cost() == [0, 0, 0, 2, 0, 1, 0, 0])
        #expect(keys.refusal(of: try .passcode("second"), .removingPasscode()) == nil)
        #expect(keys.refusal(of: .nothing, try .passcode("third", cost: nil)) == nil)
        #expect(try cost() == [0, 0, 0, 3, 0, 4, 0, 0], "moderate, where there was none before")
    }

    @Test func `keeps or sets whether ten wrong ones erase`() throws {
        let vault = try Vault(hasPasscode: false)
        let keys = try vault.open()
        let set = KeybagChange.passcode(try NewPasscode(cheap: "a"), erasesData: true)
        #expect(keys.refusal(of: .nothing, set) == nil)
        #expect(try vault.open().erasesData)
        #expect(keys.refusal(of: try .passcode("a"), try .passcode("b")) == nil)
        #expect(try vault.open().erasesData)
        let unset = KeybagChange.passcode(try NewPasscode(cheap: "b"), erasesData: false)
        #expect(keys.refusal(of: try .passcode("b"), unset) == nil)
        #expect(try !vault.open().erasesData)
    }

    @Test func `needs the right credential, and changes nothing with another`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        let old = try #require(vault.temporary.contents("keybag"))
        let keys = try vault.open()
        let strange = try NewRecoveryKey().takeBytes()
        #expect(keys.refusal(of: try .passcode("wrong"), try .passcode("mine"))?.code == .authFailed)
        #expect(keys.refusal(of: .nothing, try .passcode("mine"))?.code == .authFailed)
        #expect(keys.refusal(of: try .recoveryKey(strange), try .passcode("mine"))?.code == .authFailed)
        #expect(vault.temporary.contents("keybag") == old)
        #expect(keys.failedAttempts == 1, "only a passcode counts")
    }
}

@Suite struct `A vault without a passcode` {
    @Test func `gets one, and opens only with it from then on`() throws {
        let vault = try Vault(hasPasscode: false)
        let old = try #require(vault.temporary.contents("keybag"))
        let keys = try vault.open()
        let belongings = try Belongings(keys)
        let change = try KeybagChange.passcode("mine")
        keys.adopt(try keys.show(.nothing, change).takeKeys())
        #expect(keys.state == .unlocked)
        // No item of it could be made without a passcode, and the device key alone has opened its key.
        let renewed = [Subject.item(.whenPasscodeSetThisDeviceOnly)]
        #expect(belongings.lost(with: keys) == renewed)
        let reopened = try vault.open()
        #expect(reopened.state == .beforeFirstUnlock)
        #expect(try reopened.attempt(nil) == .authFailed)
        try reopened.unlock("mine")
        #expect(belongings.lost(with: reopened) == renewed)
        #expect(try Belongings(keys).lost(with: reopened) == [], "the keys that it gives are those of the new keybag")
        try vault.temporary.write(old, to: "keybag")
        #expect(try vault.open().state == .noPasscode, "a copy of the old keybag, with the device key, opens as before")
    }

    @Test func `has lost what wants a passcode, also when one is set again`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        let keys = try vault.open(.unlocked)
        let belongings = try Belongings(keys)
        keys.adopt(try keys.show(.passcode(Template.passcode), .removingPasscode()).takeKeys())
        #expect(keys.state == .noPasscode)
        let gone = [Subject.item(.whenPasscodeSetThisDeviceOnly)]
        #expect(belongings.lost(with: keys) == gone)
        #expect(belongings.lost(with: try vault.open()) == gone)
        let change = try KeybagChange.passcode(Template.passcode)
        keys.adopt(try keys.show(.nothing, change).takeKeys())
        #expect(belongings.lost(with: keys) == gone)
        let reopened = try vault.open(.unlocked)
        #expect(belongings.lost(with: reopened) == gone)
        let recovered = try vault.open()
        recovered.adopt(try recovered.show(.recoveryKey(vault.recoveryKey)).takeKeys())
        #expect(belongings.lost(with: recovered) == gone)
    }

    @Test func `erases nothing any more after wrong passcodes`() throws {
        let vault = try Vault(hasPasscode: false)
        let keys = try vault.open()
        let set = KeybagChange.passcode(try NewPasscode(cheap: "a"), erasesData: true)
        #expect(keys.refusal(of: .nothing, set) == nil)
        #expect(keys.refusal(of: try .passcode("a"), .removingPasscode()) == nil)
        #expect(!keys.erasesData)
    }
}

@Suite struct `A keybag change that the disk interrupts` {
    /// Setting the first passcode is the worst: the old keybag opens with the device key alone.
    @Test func `leaves the old keybag or the new one, whole, and nothing else after the next opening`() throws {
        var outcomes: [String] = []
        for step in 1...100 {
            let vault = try Vault(hasPasscode: false)
            let outside = try TemporaryDirectory()
            try vault.temporary.watch("keybag", from: outside)
            let old = try #require(vault.temporary.contents("keybag"))
            let belongings = try Belongings(try vault.open())
            let saboteur = Saboteur(failing: step)
            let keys = try vault.open(sabotagedBy: saboteur)
            let error = keys.refusal(of: .nothing, try .passcode("mine"))

            let reopened = try vault.open()
            if vault.temporary.contents("keybag") == old {
                outcomes.append("old")
                #expect(error?.code == .diskFull, "step \(step)")
            } else {
                outcomes.append(error == nil ? "new" : "new, unsure")
                #expect(reopened.state == .beforeFirstUnlock)
                try reopened.unlock("mine")
                let remains = try #require(outside.contents("keybag"))
                #expect(remains.allSatisfy { $0 == 0 }, "step \(step): the old one is overwritten")
            }
            let isNew = outcomes.last != "old"
            #expect(
                belongings.lost(with: reopened) == (isNew ? [.item(.whenPasscodeSetThisDeviceOnly)] : []),
                "step \(step)"
            )
            #expect(
                try vault.temporary.names().filter { $0 != "attempts" } == ["device.key", "keybag"],
                "step \(step)"
            )
            if !saboteur.hasStruck { break }
        }
        // Six steps put the keybag in its place, the sync of the directory among them; then the old keybag is shredded in four, and
        // the count cleared in two.
        #expect(outcomes == Array(repeating: "old", count: 6) + Array(repeating: "new", count: 7))
    }

    /// Whatever is reported, the daemon that goes on and the next one have the same keybag.
    @Test(arguments: [Template.passcode, nil])
    func `leaves the keys in memory what they are on the disk`(passcode: String?) throws {
        for step in 1...100 {
            let vault = try Vault(hasRecoveryKey: true)
            let saboteur = Saboteur(failing: step)
            let keys = try vault.open(sabotagedBy: saboteur)
            let change = KeybagChange.passcode(try NewPasscode(cheap: "another"), erasesData: true)
            let given: GivenCredential =
                if let passcode { try .passcode(passcode) } else { try .recoveryKey(vault.recoveryKey) }
            let error = keys.refusal(of: given, change)
            let hasStruck = saboteur.hasStruck
            let reopened = try vault.open()
            #expect(reopened.erasesData == (error == nil), "step \(step)")
            #expect(keys.erasesData == reopened.erasesData, "step \(step)")
            #expect(keys.slots == reopened.slots, "step \(step)")
            saboteur.disarm()
            for typed in ["another", Template.passcode] {
                let here = try keys.attempt(typed)
                let there = try reopened.attempt(typed)
                #expect(here == there, "step \(step)")
            }
            if !hasStruck { break }
        }
    }

    @Test func `is said to be unsure where it can't be taken back`() throws {
        let vault = try Vault(hasPasscode: false)
        let keys = try vault.open(sabotagedBy: Saboteur(failing: 6, forGood: true))
        let error = keys.refusal(of: .nothing, try .passcode("mine"))
        #expect(error?.code == .io)
        #expect(error?.hint?.contains("the change may have happened") ?? false)
        #expect(try vault.open().state == .beforeFirstUnlock)
    }

    @Test func `makes no vault where it fails to make one`() throws {
        for step in 1...100 {
            let temporary = try TemporaryDirectory()
            let saboteur = Saboteur(failing: step)
            let directory = try Directory(makingPath: temporary.path, fileSystem: saboteur.fileSystem)
            var isMade = true
            do { _ = try VaultKeys.create(in: directory, passcode: nil) } catch { isMade = false }
            #expect(isMade == !saboteur.hasStruck, "step \(step)")
            let found = try VaultKeys.find(in: Directory(makingPath: temporary.path))
            #expect((found != nil) == isMade, "step \(step)")
            if !saboteur.hasStruck { break }
        }
    }

    /// A kill ends everything from some step on.
    @Test func `gives no guess at the old passcode back, and the new one is not worse off for long`() throws {
        let template = try Vault(hasRecoveryKey: true)
        let guesser = try template.open()
        for number in 1...4 { #expect(try guesser.attempt("wrong \(number)") == .authFailed) }
        let file = try #require(template.temporary.contents("attempts"))
        for step in 1...100 {
            let vault = try Vault(hasRecoveryKey: true)
            try vault.temporary.write(file, to: "attempts")
            let old = vault.temporary.contents("keybag")
            let saboteur = Saboteur(failing: step, forGood: true)
            let keys = try vault.open(sabotagedBy: saboteur)
            _ = keys.refusal(of: try .recoveryKey(vault.recoveryKey), try .passcode("another"))
            let reopened = try vault.open()
            if vault.temporary.contents("keybag") == old { #expect(reopened.failedAttempts == 4, "step \(step)") }
            let error = reopened.refusal(of: try .recoveryKey(vault.recoveryKey), try .passcode("another"))
            #expect(error == nil)
            #expect(try vault.open().attempt("another") == nil, "step \(step)")
            if !saboteur.hasStruck { break }
        }
    }

    @Test func `can be repeated immediately`() throws {
        for step in 1...10 {
            let vault = try Vault(hasPasscode: false)
            let saboteur = Saboteur(failing: step)
            let keys = try vault.open(sabotagedBy: saboteur)
            let first = try NewRecoveryKey()
            let error = keys.refusal(of: .nothing, try keys.addingSlot(first))
            #expect(error?.code == (step <= 6 ? .diskFull : nil))
            let second = try NewRecoveryKey()
            #expect(keys.refusal(of: .nothing, try keys.addingSlot(second)) == nil, "step \(step)")
            let reopened = try vault.open()
            #expect(reopened.refusal(of: try .recoveryKey(second.takeBytes())) == nil)
        }
    }
}
