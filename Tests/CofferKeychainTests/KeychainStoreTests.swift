import CofferCore
import CofferDatabase
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferTestSupport
import Testing

@Suite struct `The keychain` {
    @Test func `finds what was put, opens it and removes it`() throws {
        let store = try Fixture().open(.unlocked)
        #expect(try store.count() == 0)
        #expect(try store.find(key("octocat")) == nil)
        #expect(try store.text(of: key("octocat")) == nil)
        #expect(try store.remove(key("octocat")) == false)

        try store.put(
            key("octocat"),
            secret: try SecretBytes("hunter2"),
            accessibility: .afterFirstUnlock,
            kind: .password,
            created: nil,
            now: 1234
        )
        let item = try #require(try store.find(key("octocat")))
        #expect(item.key == key("octocat"))
        #expect(item.key.path == "service/octocat")
        #expect(item.accessibility == .afterFirstUnlock)
        #expect(item.kind == .password)
        #expect(item.created == 1234)
        #expect(item.modified == 1234)
        #expect(item.secretByteCount == 7)
        #expect(try store.text(of: key("octocat")) == "hunter2")
        #expect(try store.count() == 1)

        #expect(try store.remove(key("octocat")))
        #expect(try store.find(key("octocat")) == nil)
        #expect(try store.text(of: key("octocat")) == nil)
        #expect(try store.count() == 0)
        #expect(try store.remove(key("octocat")) == false)
    }

    @Test func `keeps its items when it is closed and opened`() throws {
        let fixture = try Fixture()
        do { try fixture.open(.unlocked).put(key("octocat"), "hunter2") }
        let store = try fixture.open(.unlocked)
        #expect(try store.text(of: key("octocat")) == "hunter2")
    }

    @Test func `tells items apart by group, service and account, wherever they are cut`() throws {
        let store = try Fixture().open(.unlocked)
        let names = [
            ("default", "a", "b"), ("default", "ab", ""), ("default", "", "ab"), ("default", "b", "a"),
            ("defaulta", "", "b"), ("default", "a", "b\0"), ("default", "A", "b"), ("other", "a", "b"),
            ("default", "\u{E9}", "b"), ("default", "a/b", "c"), ("default", "a", "b/c"),
        ]
        let keys = names.map { GenericPasswordKey(group: $0.0, service: $0.1, account: $0.2) }
        for (index, key) in keys.enumerated() { try store.put(key, "secret \(index)") }
        #expect(try store.count() == names.count)
        for (index, key) in keys.enumerated() {
            #expect(try store.text(of: key) == "secret \(index)")
            let found = try #require(try store.find(key)).key
            #expect(Array(found.service.utf8) == Array(key.service.utf8))
        }
        #expect(try store.remove(keys[0]))
        for (index, key) in keys.enumerated() {
            #expect(try store.text(of: key) == (index == 0 ? nil : "secret \(index)"))
        }
    }

    @Test func `takes texts for the same if their bytes are, and not if only their characters are`() throws {
        let store = try Fixture().open(.unlocked)
        try store.put(key("cafe\u{301}"), "one")
        #expect(try store.text(of: key("caf\u{E9}")) == nil)
        try store.put(key("caf\u{E9}"), "two")
        #expect(try store.count() == 2)
        #expect(try store.text(of: key("cafe\u{301}")) == "one")
    }

    @Test func `keeps the id and the date of creation when a secret is replaced`() throws {
        let store = try Fixture().open(.unlocked)
        try store.put(
            key("a"),
            secret: try SecretBytes("one"),
            accessibility: .whenUnlocked,
            kind: .token,
            created: nil,
            now: 10
        )
        let first = try #require(try store.find(key("a")))
        try store.put(
            key("a"),
            secret: try SecretBytes("two, longer"),
            accessibility: .always,
            kind: nil,
            created: 5,
            now: 20
        )
        let second = try #require(try store.find(key("a")))
        #expect(second.id == first.id)
        #expect(second.created == 10)
        #expect(second.modified == 20)
        #expect(second.kind == .token, "an option that is not repeated is kept")
        #expect(second.accessibility == .always)
        #expect(second.secretByteCount == 11)
        #expect(try store.text(of: key("a")) == "two, longer")
        try store.put(
            key("a"),
            secret: try SecretBytes("3"),
            accessibility: .always,
            kind: .password,
            created: nil,
            now: 30
        )
        #expect(try store.find(key("a"))?.kind == .password)
        #expect(try store.count() == 1)
        // One that is removed and put again is another one.
        _ = try store.remove(key("a"))
        try store.put(key("a"), "new", now: 40)
        let third = try #require(try store.find(key("a")))
        #expect(third.id != first.id)
        #expect(third.created == 40)
    }

    @Test func `takes the date of creation from an item that moves here`() throws {
        let store = try Fixture().open(.unlocked)
        try store.put(
            key("a"),
            secret: try SecretBytes("x"),
            accessibility: .whenUnlocked,
            kind: nil,
            created: 7,
            now: 100
        )
        let item = try #require(try store.find(key("a")))
        #expect(item.created == 7)
        #expect(item.modified == 100)
    }

    @Test(arguments: [0, 1, 59, 60, 61, 124, 125, 508, 509, 4092, 4093, 32767, 32768])
    func `takes secrets of any bytes up to 32 KiB`(count: Int) throws {
        let store = try Fixture(hasPasscode: false).open(.noPasscode)
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        try store.put(
            key("a"),
            secret: try SecretBytes(copying: content.span.bytes),
            accessibility: .whenUnlocked,
            kind: nil,
            created: nil,
            now: 0
        )
        #expect(try store.find(key("a"))?.secretByteCount == count)
        guard let secret = try store.secret(of: key("a")) else {
            Issue.record("there is no secret")
            return
        }
        let found = secret.exposeBytes()
        #expect(found == content)
    }

    @Test(arguments: [32769, 100_000])
    func `refuses larger ones, and keeps what was there`(count: Int) throws {
        let store = try Fixture(hasPasscode: false).open(.noPasscode)
        try store.put(key("a"), "kept")
        for account in ["a", "b"] {
            let found = code {
                try store.put(
                    key(account),
                    secret: try SecretBytes(zeros: count),
                    accessibility: .whenUnlocked,
                    kind: nil,
                    created: nil,
                    now: 0
                )
            }
            #expect(found == .dataTooLarge)
        }
        #expect(try store.text(of: key("a")) == "kept")
        #expect(try store.count() == 1)
    }

    @Test(arguments: [(4037, nil), (4038, .dataTooLarge), (70_000, .dataTooLarge)] as [(Int, ErrorCode?)])
    func `refuses a name that does not fit`(count: Int, expected: ErrorCode?) throws {
        let store = try Fixture(hasPasscode: false).open(.noPasscode)
        let name = key(String(repeating: "n", count: count - 10), service: "0123456789")
        #expect(code { try store.put(name, "x") } == expected)
        #expect(try store.find(name)?.key == (expected == nil ? name : nil))
    }

    @Test func `takes no secret's length from what is on the disk`() throws {
        let fixture = try Fixture(hasPasscode: false)
        func stored(_ count: Int) throws -> Int {
            do {
                try fixture.open(.noPasscode).put(key("a"), String(repeating: "s", count: count))
            }
            let connection = try fixture.connect()
            return try #require(
                try connection.row("SELECT length(secret) FROM keychain_items") { Int(try $0.integer(0)) }
            )
        }
        #expect(Set(try [0, 1, 8, 20, 60].map(stored)) == [104])
        #expect(Set(try [61, 100, 124].map(stored)).count == 1)
        #expect(Set(try [28000, 28600].map(stored)).count == 1)
    }

    @Test func `visits every item once`() throws {
        let store = try Fixture(hasPasscode: false).open(.noPasscode)
        for account in ["a", "b", "c"] { try store.put(key(account), account) }
        #expect(try store.survey().accounts == ["a", "b", "c"])
        var count = 0
        try store.forEachItem { _ in
            count += 1
        }
        #expect(count == 3)
    }

    @Test func `rethrows the error of the closure, and stops`() throws {
        let store = try Fixture(hasPasscode: false).open(.noPasscode)
        try store.put(key("a"), "a")
        var calls = 0
        let found = code {
            try store.forEachItem { _ in
                calls += 1
                throw CofferError(.io, "the visitor's own")
            }
        }
        #expect(found == .io)
        #expect(calls == 1)
    }
}

/// Section 4 of the semantics: R, the secret can be read; W, one can be put, new or over the old one.
private let matrix: [(accessibility: Accessibility, cells: [TestState: String])] = [
    row(.whenUnlocked, "RW", "--", "RW", "RW", "--", "--"),
    row(.afterFirstUnlock, "RW", "--", "RW", "RW", "RW", "RW"),
    row(.always, "RW", "RW", "RW", "RW", "RW", "RW"),
    row(.whenUnlockedThisDeviceOnly, "RW", "--", "RW", "RW", "--", "--"),
    row(.afterFirstUnlockThisDeviceOnly, "RW", "--", "RW", "RW", "RW", "RW"),
    row(.alwaysThisDeviceOnly, "RW", "RW", "RW", "RW", "RW", "RW"),
    row(.whenPasscodeSetThisDeviceOnly, "!!", "--", "RW", "RW", "--", "--"),
    row(.whenUnlockedDeposit, "RW", "-W", "RW", "RW", "-W", "-W"),
]

private func row(
    _ accessibility: Accessibility,
    _ noPasscode: String,
    _ beforeFirstUnlock: String,
    _ unlocked: String,
    _ locking: String,
    _ locked: String,
    _ lockedExpired: String
) -> (Accessibility, [TestState: String]) {
    (
        accessibility,
        [
            .noPasscode: noPasscode, .beforeFirstUnlock: beforeFirstUnlock, .unlocked: unlocked, .locking: locking,
            .locked: locked, .lockedExpired: lockedExpired,
        ]
    )
}

/// Whether the name of an item can be read.
func isNamed(_ accessibility: Accessibility, in state: TestState) -> Bool {
    state != .beforeFirstUnlock || [.always, .alwaysThisDeviceOnly].contains(accessibility)
}

@Suite struct `An item in a state of the vault` {
    @Test func `has a row for every accessibility`() {
        #expect(matrix.map(\.accessibility) == Accessibility.allCases)
    }

    @Test(arguments: TestState.allCases)
    func `is there, or locked, or refused, as the semantics say`(state: TestState) throws {
        let fixture = try Fixture(hasPasscode: state != .noPasscode)
        do {
            let store = try fixture.open(state == .noPasscode ? .noPasscode : .unlocked)
            for (accessibility, cells) in matrix where cells[state] != "!!" {
                try store.put(key(accessibility.rawValue), "secret \(accessibility)", accessibility, now: 1)
            }
        }
        let store = try fixture.open(state)
        let count = try store.count()
        for (accessibility, cells) in matrix {
            let cell = try #require(cells[state])
            let name = key(accessibility.rawValue)
            if cell == "!!" {
                #expect(code { try store.put(name, "x", accessibility) } == .authFailed)
                #expect(try store.find(name) == nil)
                continue
            }
            #expect(try store.accessibility(of: name) == accessibility, "it is found in every state")
            #expect(try store.named(name)?.accessibility == (isNamed(accessibility, in: state) ? accessibility : nil))
            let reading = code {
                let text = try store.text(of: name)
                #expect(text == "secret \(accessibility)")
            }
            #expect(reading == (cell.contains("R") ? nil : .interactionNotAllowed), "\(accessibility)")
            let replacing = code { try store.put(name, "another", accessibility, now: 2) }
            #expect(replacing == (cell.contains("W") ? nil : .interactionNotAllowed), "\(accessibility)")
            let modified: Int64? = isNamed(accessibility, in: state) ? (cell.contains("W") ? 2 : 1) : nil
            #expect(try store.named(name)?.modified == modified)
            let adding = code { try store.put(key("new \(accessibility)"), "new", accessibility) }
            #expect(adding == (cell.contains("W") ? nil : .interactionNotAllowed), "\(accessibility)")
            // Missing is distinguished from locked in every state.
            #expect(try store.find(key("never there")) == nil)
            #expect(try store.text(of: key("never there")) == nil)
        }
        #expect(try store.count() == count + matrix.count { $0.cells[state]?.contains("W") == true })
        #expect(try store.survey().damaged == 0)
        // Removing wants no key but that of the names: an access control may protect an item against it.
        for (accessibility, cells) in matrix where cells[state] != "!!" {
            let removing = code {
                let isRemoved = try store.remove(key(accessibility.rawValue))
                #expect(isRemoved)
            }
            #expect(removing == (isNamed(accessibility, in: state) ? nil : .interactionNotAllowed))
        }
    }

    @Test(arguments: [TestState.locked, .beforeFirstUnlock], [Accessibility.always, .alwaysThisDeviceOnly])
    func `that is locked is not replaced by one that would not be`(state: TestState, other: Accessibility) throws {
        let fixture = try Fixture()
        let keys = try fixture.vault.open(.unlocked)
        do { try fixture.open(with: keys).put(key("a"), "the old secret", .whenUnlocked, now: 1) }
        do {
            let store = try fixture.open(state)
            #expect(code { try store.put(key("a"), "a new secret", other, now: 2) } == .interactionNotAllowed)
            #expect(try store.accessibility(of: key("a")) == .whenUnlocked)
            #expect(try store.count() == 1)
        }
        #expect(try fixture.open(with: keys).find(key("a"))?.modified == 1)
        #expect(try fixture.open(with: keys).text(of: key("a")) == "the old secret")
    }

    @Test func `answers with its name, the reason and the way out`() throws {
        let fixture = try Fixture()
        do { try fixture.open(.unlocked).put(key("octocat"), "x") }
        let store = try fixture.open(.locked)
        do {
            _ = try store.secret(of: key("octocat"))
            Issue.record("the item is locked")
        } catch let error as CofferError {
            #expect(error.message == "can't read 'service/octocat': the vault is locked")
            #expect(error.retry == .afterUnlock)
            #expect(error.cocoaCode == 257)
        }
        do {
            try store.put(key("octocat"), "y")
            Issue.record("the item is locked")
        } catch let error as CofferError {
            #expect(error.message == "can't write 'service/octocat': the vault is locked")
            #expect(error.cocoaCode == 513)
        }
    }
}
