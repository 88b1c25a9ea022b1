import CofferCore
import CofferKeys
import CofferMemory
import CofferTestSupport
import Testing

/// Sections 3 and 4 of the semantics: N, a new key can be made; U, one can be unwrapped.
private let matrix: [(subject: Subject, cells: [TestState: String])] = [
    row(.file(.complete), "NU", "--", "NU", "NU", "--", "--"),
    row(.file(.completeUnlessOpen), "NU", "N-", "NU", "NU", "N-", "N-"),
    row(.file(.completeUntilFirstUserAuthentication), "NU", "--", "NU", "NU", "NU", "NU"),
    row(.file(.completeWhenUserInactive), "NU", "--", "NU", "NU", "NU", "--"),
    row(.file(.none), "NU", "NU", "NU", "NU", "NU", "NU"),
    row(.item(.whenUnlocked), "NU", "--", "NU", "NU", "--", "--"),
    row(.item(.afterFirstUnlock), "NU", "--", "NU", "NU", "NU", "NU"),
    row(.item(.always), "NU", "NU", "NU", "NU", "NU", "NU"),
    row(.item(.whenUnlockedThisDeviceOnly), "NU", "--", "NU", "NU", "--", "--"),
    row(.item(.afterFirstUnlockThisDeviceOnly), "NU", "--", "NU", "NU", "NU", "NU"),
    row(.item(.alwaysThisDeviceOnly), "NU", "NU", "NU", "NU", "NU", "NU"),
    // That there are none without a passcode is the keychain's rule, not the keys'.
    row(.item(.whenPasscodeSetThisDeviceOnly), "NU", "--", "NU", "NU", "--", "--"),
    row(.item(.whenUnlockedDeposit), "NU", "N-", "NU", "NU", "N-", "N-"),
]

private func row(
    _ subject: Subject,
    _ noPasscode: String,
    _ beforeFirstUnlock: String,
    _ unlocked: String,
    _ locking: String,
    _ locked: String,
    _ lockedExpired: String
) -> (Subject, [TestState: String]) {
    (
        subject,
        [
            .noPasscode: noPasscode, .beforeFirstUnlock: beforeFirstUnlock, .unlocked: unlocked, .locking: locking,
            .locked: locked, .lockedExpired: lockedExpired,
        ]
    )
}

@Suite struct `The keys of a state` {
    @Test func `have a row for everything that is wrapped`() {
        #expect(Set(matrix.map(\.subject)) == Set(Subject.all))
    }

    @Test(arguments: TestState.allCases)
    func `are exactly those of the semantics`(state: TestState) throws {
        let vault = try Vault(hasPasscode: state != .noPasscode)
        let id = ItemID()
        let before = try vault.open(state == .noPasscode ? .noPasscode : .unlocked)
        var stored: [Subject: TestKey] = [:]
        for (subject, _) in matrix { stored[subject] = try subject.newKey(from: before, for: id) }

        let keys = try vault.open(state)
        for (subject, cells) in matrix {
            let cell = try #require(cells[state])
            let old = try #require(stored[subject])
            let newRefusal = refusal { () throws(KeyError) in try subject.newKey(from: keys, for: id) }
            #expect(newRefusal == (cell.contains("N") ? nil : .locked), "new \(subject)")
            let oldRefusal = refusal { () throws(KeyError) in try subject.unwrap(old.wrapped, from: keys, for: id) }
            #expect(oldRefusal == (cell.contains("U") ? nil : .locked), "old \(subject)")
            if cell.contains("U") {
                let key = try subject.unwrap(old.wrapped, from: keys, for: id)
                #expect(key == old.key, "\(subject)")
            }
        }
    }

    @Test(arguments: ProtectionClass.allCases, ProtectionClass.allCases)
    func `rewrap the key of a file for another class, and for that content only`(
        old: ProtectionClass,
        new: ProtectionClass
    ) throws {
        let keys = try Vault(hasPasscode: false).open(.noPasscode)
        let id = ItemID()
        let first = try Subject.file(old).newKey(from: keys, for: id)
        let second = try keys.rewrapFileKey(first.wrapped.span.bytes, from: old, to: new, of: id)
        let key = try Subject.file(new).unwrap(second, from: keys, for: id)
        #expect(key == first.key)
        #expect(second != first.wrapped)
        let moved = refusal { () throws(KeyError) in
            try keys.rewrapFileKey(first.wrapped.span.bytes, from: old, to: new, of: ItemID())
        }
        #expect(moved == .damaged)
        guard old != new else { return }
        let mistaken = refusal { () throws(KeyError) in
            try keys.rewrapFileKey(first.wrapped.span.bytes, from: new, to: old, of: id)
        }
        #expect(mistaken == .damaged)
    }

    @Test(arguments: Accessibility.allCases, Accessibility.allCases)
    func `rewrap the key of an item for another accessibility, and for that item only`(
        old: Accessibility,
        new: Accessibility
    ) throws {
        let keys = try Vault(hasPasscode: false).open(.noPasscode)
        let id = ItemID()
        let first = try Subject.item(old).newKey(from: keys, for: id)
        let second = try keys.rewrapItemKey(first.wrapped.span.bytes, from: old, to: new, of: id)
        let key = try Subject.item(new).unwrap(second, from: keys, for: id)
        #expect(key == first.key)
        let moved = refusal { () throws(KeyError) in
            try keys.rewrapItemKey(first.wrapped.span.bytes, from: old, to: new, of: ItemID())
        }
        #expect(moved == .damaged)
    }

    @Test func `come and go with the state, also on the way`() throws {
        let vault = try Vault()
        let keys = try vault.open(.beforeFirstUnlock)
        let id = ItemID()
        func states() throws -> [Bool] {
            [Subject.file(.complete), .item(.afterFirstUnlock), .item(.always)].map { subject in
                refusal { () throws(KeyError) in try subject.newKey(from: keys, for: id) } == nil
            }
        }
        #expect(try states() == [false, false, true])
        keys.beginLocking()
        #expect(keys.state == .beforeFirstUnlock)
        keys.lock()
        #expect(keys.state == .beforeFirstUnlock)
        #expect(try states() == [false, false, true])

        try keys.unlock()
        #expect(keys.state == .unlocked)
        #expect(try states() == [true, true, true])
        keys.beginLocking()
        keys.beginLocking()
        #expect(keys.state == .locking)
        #expect(try states() == [true, true, true])
        try keys.unlock()
        #expect(keys.state == .unlocked, "an unlock ends the grace")
        keys.lock()
        #expect(keys.state == .locked, "no grace is needed")
        #expect(try states() == [false, true, true])
        keys.lock()
        keys.beginLocking()
        #expect(keys.state == .locked, "what is locked has no grace")
        #expect(try states() == [false, true, true])
        try keys.unlock()
        #expect(try states() == [true, true, true])
    }

    @Test func `go one group after another while the vault stays locked`() throws {
        let vault = try Vault()
        let keys = try vault.open(.unlocked)
        let id = ItemID()
        func isThere(_ protectionClass: ProtectionClass) -> Bool {
            refusal { () throws(KeyError) in try Subject.file(protectionClass).newKey(from: keys, for: id) } == nil
        }
        keys.expireInactive()
        #expect(keys.state == .unlocked, "only what is locked expires")
        keys.beginLocking()
        keys.expireInactive()
        #expect(keys.state == .locking)
        keys.lock()
        #expect(isThere(.completeWhenUserInactive))
        keys.expireInactive()
        #expect(keys.state == .lockedExpired)
        #expect(!isThere(.completeWhenUserInactive))
        #expect(isThere(.completeUntilFirstUserAuthentication))
        keys.lock()
        keys.expireInactive()
        #expect(keys.state == .lockedExpired)
        keys.forget()
        #expect(keys.state == .beforeFirstUnlock)
        #expect(!isThere(.completeUntilFirstUserAuthentication))
        try keys.unlock()
        #expect(ProtectionClass.allCases.allSatisfy(isThere))
    }

    @Test func `say when one that the passcode protects was used`() throws {
        let keys = try Vault().open(.locked)
        let id = ItemID()
        #expect(!keys.takeUse())
        _ = try Subject.item(.always).newKey(from: keys, for: id)
        #expect(!keys.takeUse(), "the device key's own")
        let refused = refusal { () throws(KeyError) in try Subject.item(.whenUnlocked).newKey(from: keys, for: id) }
        #expect(refused == .locked)
        #expect(!keys.takeUse(), "one that is not there")
        _ = try Subject.item(.afterFirstUnlock).newKey(from: keys, for: id)
        #expect(keys.takeUse())
        #expect(!keys.takeUse())
    }

    @Test func `stay where there is no passcode to lock with`() throws {
        let vault = try Vault(hasPasscode: false)
        let keys = try vault.open(.noPasscode)
        keys.beginLocking()
        #expect(keys.state == .noPasscode)
        keys.lock()
        keys.expireInactive()
        keys.forget()
        #expect(keys.state == .noPasscode)
        let found = refusal { () throws(KeyError) in try Subject.file(.complete).newKey(from: keys, for: ItemID()) }
        #expect(found == nil)
    }

    @Test(arguments: TestState.allCases)
    func `let the catalog be searched in each`(state: TestState) throws {
        let vault = try Vault(hasPasscode: state != .noPasscode)
        let one = try vault.open(state)
        let other = try vault.open(state == .noPasscode ? .noPasscode : .beforeFirstUnlock)
        let isSame = one.catalog.search.bytes.isEqual(to: other.catalog.search.bytes)
        #expect(isSame)
        let isAnother = one.catalog.search.bytes.isEqual(to: one.catalog.keychainMetadata.bytes)
        #expect(!isAnother)
        let isThird = one.catalog.fileMetadata.bytes.isEqual(to: one.catalog.keychainMetadata.bytes)
        #expect(!isThird)
        #expect(one.vaultID == other.vaultID)
    }
}

@Suite struct `A key that is wrapped` {
    @Test func `unwraps as what it was wrapped for, and as nothing else`() throws {
        let vault = try Vault()
        let keys = try vault.open(.unlocked)
        let id = ItemID()
        for subject in Subject.all {
            let made = try subject.newKey(from: keys, for: id)
            for other in Subject.all {
                let found = refusal { () throws(KeyError) in try other.unwrap(made.wrapped, from: keys, for: id) }
                #expect(found == (other == subject ? nil : .damaged), "\(subject) as \(other)")
            }
            let elsewhere = refusal { () throws(KeyError) in
                try subject.unwrap(made.wrapped, from: keys, for: ItemID())
            }
            #expect(elsewhere == .damaged, "\(subject) of another item")
        }
    }

    @Test(arguments: Subject.all)
    func `is found out when a byte of it is another, or is missing`(subject: Subject) throws {
        let vault = try Vault()
        let keys = try vault.open(.unlocked)
        let id = ItemID()
        let made = try subject.newKey(from: keys, for: id)
        for place in made.wrapped.indices {
            var changed = made.wrapped
            changed[place] ^= 1
            let found = refusal { () throws(KeyError) in try subject.unwrap(changed, from: keys, for: id) }
            #expect(found == .damaged, "byte \(place)")
            let cut = Array(made.wrapped.prefix(place))
            let foundCut = refusal { () throws(KeyError) in try subject.unwrap(cut, from: keys, for: id) }
            #expect(foundCut == .damaged, "\(place) bytes")
        }
    }

    @Test func `does not unwrap in another vault`() throws {
        let keys = try Vault().open(.unlocked)
        let other = try Vault(hasPasscode: false).open(.noPasscode)
        let id = ItemID()
        for subject in Subject.all {
            let made = try subject.newKey(from: keys, for: id)
            let found = refusal { () throws(KeyError) in try subject.unwrap(made.wrapped, from: other, for: id) }
            #expect(found == .damaged, "\(subject)")
        }
    }

    @Test(arguments: Subject.all)
    func `is another one each time`(subject: Subject) throws {
        let keys = try Vault(hasPasscode: false).open(.noPasscode)
        let id = ItemID()
        let made = try (0..<10).map { _ in try subject.newKey(from: keys, for: id) }
        #expect(Set(made.map(\.key)).count == 10)
        #expect(Set(made.map(\.wrapped)).count == 10)
        for one in made { #expect(!one.wrapped.contains(one.key)) }
    }

    @Test(arguments: [TestState.beforeFirstUnlock, .locked, .locking])
    func `of class B is made in every state, and opened after the next unlock`(state: TestState) throws {
        let vault = try Vault()
        let keys = try vault.open(state)
        let id = ItemID()
        let made = try Subject.file(.completeUnlessOpen).newKey(from: keys, for: id)
        if state != .locking {
            let found = refusal { () throws(KeyError) in
                try Subject.file(.completeUnlessOpen).unwrap(made.wrapped, from: keys, for: id)
            }
            #expect(found == .locked, "also the one that was just made")
        }
        try keys.unlock()
        let key = try Subject.file(.completeUnlessOpen).unwrap(made.wrapped, from: keys, for: id)
        #expect(key == made.key)
    }

    @Test func `has the error that a client gets`() {
        let locked = KeyError.locked.cofferError("'a'", in: .locked, for: .read)
        #expect(locked.code == .interactionNotAllowed)
        #expect(locked.cocoaCode == 257)
        #expect(locked.retry == .afterUnlock)
        #expect(locked.message == "can't read 'a': the vault is locked")
        let writing = KeyError.locked.cofferError("'a'", in: .beforeFirstUnlock, for: .write)
        #expect(writing.cocoaCode == 513)
        #expect(writing.message == "can't write 'a': the vault is sealed until you unlock it")
        #expect(KeyError.damaged.cofferError("'a'", in: .unlocked, for: .read).code == .decode)
        #expect(KeyError.noMemory.cofferError("'a'", in: .unlocked, for: .read).code == .io)
    }
}
