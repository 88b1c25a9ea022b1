import CofferCore
import CofferDatabase
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferTestSupport
import Testing

/// Section 4 of the semantics: the accessibilities whose key is there.
private let available: [TestState: Set<Accessibility>] = [
    .noPasscode: Set(Accessibility.allCases).subtracting([.whenPasscodeSetThisDeviceOnly]),
    .beforeFirstUnlock: [.always, .alwaysThisDeviceOnly],
    .unlocked: Set(Accessibility.allCases),
    .locking: Set(Accessibility.allCases),
    .locked: [
        .always, .alwaysThisDeviceOnly, .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly,
    ],
    // Class CX has no like in the keychain.
    .lockedExpired: [
        .always, .alwaysThisDeviceOnly, .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly,
    ],
]

private let changes = Accessibility.allCases.flatMap { old in Accessibility.allCases.map { (old: old, new: $0) } }

/// Both keys have to be there, except that of deposits, whose public half always is; one that wants a passcode is refused where there is none.
private func expectation(_ old: Accessibility, _ new: Accessibility, in state: TestState) throws -> ErrorCode? {
    if new == .whenPasscodeSetThisDeviceOnly && state == .noPasscode { return .authFailed }
    if !isNamed(old, in: state) { return .interactionNotAllowed }
    let keys = try #require(available[state])
    let wanted: Set<Accessibility> = new == .whenUnlockedDeposit ? [old] : [old, new]
    return old == new || keys.isSuperset(of: wanted) ? nil : .interactionNotAllowed
}

/// What of a row a change of its accessibility has to leave alone.
private struct Trace: Equatable {
    let id, secret: [UInt8]
}

extension Connection {
    fileprivate func traces() throws -> [[UInt8]: Trace] {
        var found: [[UInt8]: Trace] = [:]
        try rows("SELECT primary_tag, uuid, secret FROM keychain_items") { row in
            found[try row.blob(0)] = Trace(id: try row.blob(1), secret: try row.blob(2))
            return true
        }
        return found
    }
}

extension KeychainStore {
    fileprivate func protect(_ key: GenericPasswordKey, as accessibility: Accessibility, now: Int64 = 2000) throws {
        try protect(try #require(try find(key)), as: accessibility, now: now)
    }
}

private func name(_ old: Accessibility, _ new: Accessibility) -> GenericPasswordKey { key("\(new)", service: "\(old)") }

@Suite struct `An item whose accessibility is changed` {
    @Test(arguments: TestState.allCases)
    func `wants both keys, and keeps its secret as it is`(state: TestState) throws {
        let fixture = try Fixture(hasPasscode: state != .noPasscode)
        let open: TestState = state == .noPasscode ? .noPasscode : .unlocked
        // There are none of these in a vault without a passcode.
        let present = changes.filter { state != .noPasscode || $0.old != .whenPasscodeSetThisDeviceOnly }
        do {
            let store = try fixture.open(open)
            for (old, new) in present { try store.put(name(old, new), "\(old) \(new)", old) }
        }
        let before = try fixture.connect().traces()
        var classes: [GenericPasswordKey: Accessibility] = [:]
        do {
            let store = try fixture.open(state)
            for (old, new) in present {
                let key = name(old, new)
                let expected = try expectation(old, new, in: state)
                let found = code { try store.protect(key, as: new) }
                #expect(found == expected, "\(key.path)")
                let now = expected == nil ? new : old
                #expect(try store.accessibility(of: key) == now, "\(key.path)")
                if isNamed(now, in: state) {
                    let item = try #require(try store.find(key))
                    #expect(item.created == 1000)
                    #expect(item.modified == (old == now ? 1000 : 2000), "\(key.path)")
                }
                classes[key] = now
            }
            #expect(try store.survey().damaged == 0)
        }
        let after = try fixture.connect().traces()
        #expect(after == before)
        #expect(after.count == present.count)
        for later in state == .noPasscode ? [.noPasscode] : TestState.allCases.filter({ $0 != .noPasscode }) {
            let store = try fixture.open(later)
            for (key, accessibility) in classes {
                let isReadable = available[later]?.contains(accessibility) == true
                let found = code {
                    let text = try store.text(of: key)
                    #expect(text == "\(key.service) \(key.account)")
                }
                #expect(found == (isReadable ? nil : .interactionNotAllowed), "\(key.path) \(later)")
            }
        }
    }

    @Test(arguments: ["class_key", "wrapped_key", "metadata"])
    func `detects that a part of the row was rolled back`(column: String) throws {
        let fixture = try Fixture()
        let connection = try fixture.connect()
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        try store.put(key("a"), "secret", .always)
        let old = try #require(
            try connection.row("SELECT class_key, wrapped_key, metadata FROM keychain_items") { row in
                (classKey: try row.integer(0), wrappedKey: try row.blob(1), metadata: try row.blob(2))
            }
        )
        try store.protect(key("a"), as: .whenUnlocked)
        let before = try store.text(of: key("a"))
        #expect(before == "secret")
        switch column {
        case "class_key": try connection.execute("UPDATE keychain_items SET class_key = ?", .integer(old.classKey))
        case "wrapped_key": try connection.execute("UPDATE keychain_items SET wrapped_key = ?", .blob(old.wrappedKey))
        default: try connection.execute("UPDATE keychain_items SET metadata = ?", .blob(old.metadata))
        }
        #expect(code { _ = try store.find(key("a")) } == .decode)
    }

    @Test func `is undone with the transaction around it`() throws {
        let fixture = try Fixture()
        let connection = try fixture.connect()
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        try store.put(key("a"), "secret", .always)
        try connection.beginBatch()
        try store.protect(key("a"), as: .whenUnlocked)
        try connection.rollbackBatch()
        let item = try #require(try store.find(key("a")))
        #expect(item.accessibility == .always)
        #expect(item.modified == 1000)
        let text = try store.text(of: key("a"))
        #expect(text == "secret")
    }

    @Test func `keeps its kind, its size and its identity, and can be replaced and removed`() throws {
        let fixture = try Fixture()
        let store = try fixture.open(.unlocked)
        try store.put(
            key("a"),
            secret: try SecretBytes("secret"),
            accessibility: .always,
            kind: .token,
            created: 5,
            now: 6
        )
        let before = try #require(try store.find(key("a")))
        try store.protect(key("a"), as: .afterFirstUnlock)
        let after = try #require(try store.find(key("a")))
        #expect(after.id == before.id)
        #expect(after.kind == .token)
        #expect(after.secretByteCount == 6)
        #expect(after.created == 5)
        try store.put(key("a"), "other", .afterFirstUnlock)
        let text = try store.text(of: key("a"))
        #expect(text == "other")
        #expect(try store.remove(key("a")))
    }

    @Test func `leaves the old row or the new one where the log is cut at a power failure`() throws {
        let fixture = try Fixture()
        let connection = try fixture.connect()
        let store = KeychainStore(connection: connection, keys: try fixture.vault.open(.unlocked))
        try store.put(key("a"), "secret", .always)
        _ = try connection.row("PRAGMA wal_checkpoint(TRUNCATE)") { _ in true }
        try connection.beginBatch()
        try store.protect(key("a"), as: .whenUnlocked)
        try connection.commitBatch()
        let log = try #require(fixture.vault.temporary.contents("vault.sqlite-wal"))
        var found: [Accessibility] = []
        let whole = CatalogLog.end(of: log)
        for end in Array(stride(from: 0, to: whole, by: 499)) + [whole] {
            let copy = try Fixture()
            let database = try #require(fixture.vault.temporary.contents("vault.sqlite"))
            try copy.vault.temporary.write(database, to: "vault.sqlite")
            try copy.vault.temporary.write(log.prefix(end), to: "vault.sqlite-wal")
            let again = try copy.open(.unlocked)
            let text = try again.text(of: key("a"))
            #expect(text == "secret", "cut at \(end)")
            found.append(try #require(try again.find(key("a"))).accessibility)
        }
        #expect(found.first == .always)
        #expect(found.last == .whenUnlocked)
        #expect(Set(found) == [.always, .whenUnlocked])
    }
}
