import CofferCore
import CofferDatabase
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferTestSupport
import Testing

extension KeychainStore {
    /// Checks all of it, some rows at a time.
    fileprivate func check(
        repairs: Bool = false,
        groups: AccessGroups = ["default"],
        limit: Int = 3
    ) throws -> [Finding] {
        let order = CheckOrder(groups: groups, repairs: repairs, now: 5000, limit: limit)
        var findings: [Finding] = []
        var place: Int64?
        repeat {
            let slice = try checkItems(after: place, order)
            #expect(slice.checkedCount <= limit)
            findings += slice.findings
            place = slice.next
        } while place != nil
        var tagPlace: TagPlace?
        repeat {
            let slice = try checkTags(after: tagPlace, order)
            findings += slice.findings
            tagPlace = slice.next
        } while tagPlace != nil
        return try findings + checkCount(order).findings
    }

    fileprivate var quarantine: [QuarantineEntry] {
        get throws { try quarantineTable.entries(after: 0, CheckOrder(groups: ["default"], repairs: false, now: 0)) }
    }

    fileprivate func putAllBack() throws -> [String?] {
        let order = CheckOrder(groups: ["default"], repairs: false, now: 0)
        return try quarantine.map { try #require(try quarantineTable.putBack($0.number, order)).obstacle }
    }
}

extension Finding {
    fileprivate var words: String { "\(stage) \(name ?? "-") \(damage)" }
}

@Suite struct `A check of the keychain` {
    let fixture: Fixture
    let keys: VaultKeys

    /// Rows 1 to 4: the accounts a, b, c and d, the last with two former values.
    init() throws {
        fixture = try Fixture()
        keys = try fixture.vault.open(.unlocked)
        let store = try fixture.open(with: keys)
        for account in ["a", "b", "c"] { try store.put(key(account), "secret \(account)") }
        for number in 0..<3 { try store.put(key("d"), number == 2 ? "secret d" : "former \(number)", .always) }
    }

    private func tamper(_ body: (Connection) throws -> Void) throws {
        let connection = try fixture.connect()
        try connection.transaction { try body(connection) }
    }

    /// Whatever was done, this is found, in every state that is asked for; a repair leaves nothing of it, and all others as they were.
    private func expect(
        _ expected: [String],
        _ repair: Repair = .quarantine,
        quarantined: Int = 1,
        losing victims: Set<String>,
        lockedToo: Bool = true
    ) throws {
        for state in [TestState.unlocked, .locked] where state == .unlocked || lockedToo {
            let store = state == .unlocked ? try fixture.open(with: keys) : try fixture.open(.locked)
            let findings = try store.check()
            #expect(findings.map(\.words) == expected, "\(state)")
            #expect(findings.allSatisfy { $0.repair == repair && !$0.isRepaired })
            #expect(try store.check(limit: 100).map(\.words) == expected, "the size of a step makes no difference")
        }
        let store = try fixture.open(with: keys)
        let repaired = try store.check(repairs: true)
        #expect(repaired.map(\.words) == expected)
        #expect(repaired.allSatisfy { $0.isRepaired })
        #expect(try store.check() == [], "nothing is left")
        #expect(try store.survey().damaged == 0)
        let entries = try store.quarantine
        #expect(entries.count == quarantined)
        #expect(entries.allSatisfy { $0.moved == 5000 && $0.obstacle != nil })
        for account in ["a", "b", "c", "d"] {
            let text = try store.text(of: key(account))
            #expect(text == (victims.contains(account) ? nil : "secret \(account)"), "\(account)")
        }
        // Their names are free again.
        for account in victims { try store.put(key(account), "new") }
        #expect(try store.check() == [])
        #expect(try store.count() == 4)
    }

    @Test func `finds nothing where nothing was done, so that the other tests can fail`() throws {
        for state in [TestState.unlocked, .locked, .beforeFirstUnlock] {
            let store = state == .unlocked ? try fixture.open(with: keys) : try fixture.open(state)
            #expect(try store.check() == [])
            let slice = try store.checkItems(after: nil, CheckOrder(groups: [], repairs: false, now: 0))
            #expect(slice.checkedCount == 4)
            #expect(slice.sealedCount == (state == .unlocked ? 0 : 3), "d is there always")
        }
        #expect(try fixture.open(with: keys).quarantine == [])
    }

    @Test(arguments: [-1, 0, .min, .max])
    func `counts and lists an item whose row has a number that none gets`(number: Int64) throws {
        try tamper { try $0.execute("UPDATE keychain_items SET id = ? WHERE id = 1", .integer(number)) }
        let store = try fixture.open(with: keys)
        let slice = try store.checkItems(after: nil, CheckOrder(groups: [], repairs: false, now: 0))
        #expect(slice.checkedCount == 4)
        #expect(try store.index.search(ItemQuery(groups: ["default"])).items.count == 4)
        #expect(try !store.check().isEmpty, "its tags lead to none")
    }

    @Test func `finds flipped metadata`() throws {
        try tamper {
            try $0.execute(
                "UPDATE keychain_items SET metadata = CAST(substr(metadata, 2) || x'00' AS BLOB) WHERE id = 1"
            )
        }
        try expect(["keychainItems - metadata"], losing: ["a"])
    }

    @Test func `finds a flipped secret, and names the item`() throws {
        try tamper {
            try $0.execute("UPDATE keychain_items SET secret = CAST(substr(secret, 2) || x'00' AS BLOB) WHERE id = 1")
        }
        try expect(["keychainItems 'service/a' exchangedSecret"], losing: ["a"])
    }

    @Test func `finds halves that were exchanged`() throws {
        try tamper { connection in
            try connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM keychain_items")
            try connection.execute(
                """
                UPDATE keychain_items SET wrapped_key = (SELECT wrapped_key FROM kept WHERE kept.id = 3 - keychain_items.id),
                    secret = (SELECT secret FROM kept WHERE kept.id = 3 - keychain_items.id) WHERE id < 3
                """
            )
        }
        try expect(
            ["keychainItems 'service/a' exchangedSecret", "keychainItems 'service/b' exchangedSecret"],
            quarantined: 2,
            losing: ["a", "b"]
        )
    }

    @Test func `finds a row that was copied over another one`() throws {
        try tamper { connection in
            try connection.execute(
                """
                UPDATE keychain_items SET (metadata, wrapped_key, secret) =
                    (SELECT metadata, wrapped_key, secret FROM keychain_items WHERE id = 2) WHERE id = 1
                """
            )
        }
        try expect(["keychainItems - metadata"], losing: ["a"])
    }

    @Test(arguments: [0, 99, 272, Int64.max])
    func `finds a class that there is not`(value: Int64) throws {
        try tamper { try $0.execute("UPDATE keychain_items SET class_key = ? WHERE id = 1", .integer(value)) }
        try expect(["keychainItems - row"], losing: ["a"])
    }

    @Test func `finds a reference of another length`() throws {
        try tamper { try $0.execute("UPDATE keychain_items SET uuid = x'0102' WHERE id = 1") }
        try expect(["keychainItems - row"], losing: ["a"])
    }

    @Test func `moves a damaged item without its former values, which wait for it`() throws {
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 4") }
        try expect(["keychainItems 'service/d' exchangedSecret"], losing: ["d"])
    }

    @Test func `finds a missing tag, and writes it again`() throws {
        let query: ItemQuery = {
            var query = ItemQuery(groups: ["default"])
            query.exact = [.account: .text("b")]
            return query
        }()
        try tamper { try $0.execute("DELETE FROM keychain_tags WHERE item = 2") }
        #expect(try fixture.open(with: keys).index.search(query).items.isEmpty)
        try expect(["keychainItems 'service/b' missingTags"], .rewrite, quarantined: 0, losing: [])
        #expect(try fixture.open(with: keys).index.search(query).items.count == 1)
    }

    @Test func `finds tags that lead to what has them not, or to nothing`() throws {
        try tamper { connection in
            try connection.execute(
                "INSERT INTO keychain_tags (tag, item) VALUES (x'00112233445566778899aabbccddeeff', 2)"
            )
            try connection.execute("INSERT INTO keychain_tags (tag, item) VALUES (x'ff', 77)")
        }
        try expect(
            ["keychainTags - strayTags", "keychainTags 'service/b' strayTags"],
            .rewrite,
            quarantined: 0,
            losing: []
        )
    }

    @Test(arguments: ["UPDATE", "DELETE", "INSERT"])
    func `finds a wrong count, and counts again`(change: String) throws {
        try tamper { connection in
            switch change {
            case "UPDATE": try connection.execute("UPDATE keychain_count SET items = items + 1")
            case "DELETE": try connection.execute("DELETE FROM keychain_count")
            default: try connection.execute("INSERT INTO keychain_count VALUES (4)")
            }
        }
        try expect(["counts the keychain count"], .rewrite, quarantined: 0, losing: [])
    }

    @Test func `finds a value of a type that the schema forbids, and no other row is affected`() throws {
        try tamper { connection in
            // What a flipped byte of the file does, and no statement.
            try connection.execute("PRAGMA writable_schema = ON")
            try connection.execute(
                "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'keychain_items'"
            )
        }
        do {
            let connection = try fixture.connectUnchecked()
            try connection.execute("UPDATE keychain_items SET secret = 5 WHERE id = 1")
            try connection.execute("PRAGMA writable_schema = ON")
            try connection.execute("UPDATE sqlite_schema SET sql = sql || 'STRICT' WHERE name = 'keychain_items'")
        }
        let store = try fixture.open(with: keys)
        #expect(try store.survey().damaged == 1)
        #expect(try store.index.search(ItemQuery(groups: ["default"])).damagedRows == [1])
        #expect(try store.text(of: key("b")) == "secret b")
        #expect(try store.check(repairs: true).map(\.words) == ["keychainItems - row"])
        #expect(try store.check() == [])
        #expect(try store.survey().damaged == 0)
    }

    @Test func `does not try what an access control keeps, and finds it damaged all the same`() throws {
        do {
            let store = try fixture.open(with: keys)
            var attributes = ItemAttributes(key("kept"))
            attributes.accessControl = try AccessControl([.devicePasscode])
            _ = try store.add(attributes, secret: try SecretBytes("kept"), accessibility: .whenUnlocked, now: 1)
            let slice = try store.checkItems(after: nil, CheckOrder(groups: ["default"], repairs: false, now: 0))
            #expect(slice.findings == [])
            #expect(slice.sealedCount == 1)
        }
        try tamper { try $0.execute("UPDATE keychain_items SET wrapped_key = secret WHERE id = 5") }
        #expect(try fixture.open(with: keys).check().map(\.words) == ["keychainItems 'service/kept' exchangedSecret"])
    }

    @Test func `tells no name of a group that the caller does not hold`() throws {
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 1") }
        let store = try fixture.open(with: keys)
        let findings = try store.check(groups: ["other"])
        #expect(findings.map(\.words) == ["keychainItems - exchangedSecret"])
        #expect(findings.first?.reference != nil)
    }

    @Test func `leaves nothing if items are removed with the passcode, or are damaged`() throws {
        do {
            let store = try fixture.open(with: keys)
            try store.put(key("p"), "wants a passcode", .whenPasscodeSetThisDeviceOnly)
            try store.removeWantingPasscode()
        }
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 1") }
        let store = try fixture.open(with: keys)
        #expect(try store.remove(key("a")))
        #expect(try store.check() == [])
    }

    // MARK: The way back

    /// The sealed secret of a row, before it is damaged.
    private func secret(of row: Int64) throws -> [UInt8] {
        let connection = try fixture.connect()
        return try #require(
            try connection.row("SELECT secret FROM keychain_items WHERE id = ?", .integer(row)) { try $0.blob(0) }
        )
    }

    /// Makes the quarantined item what it was, as a better copy of a file would.
    private func mend(_ secret: [UInt8]) throws {
        try tamper {
            try $0.execute("UPDATE keychain_quarantine SET secret = ?", .blob(secret))
        }
    }

    @Test func `puts back what is whole again, with its tags, its former values and its reference`() throws {
        func look() throws -> (ItemID, [Int64]) {
            let store = try fixture.open(with: keys)
            let item = try #require(try store.find(key("d")))
            return (item.id, try store.histories.values(of: item).values.map(\.number))
        }
        let (reference, earlier) = try look()
        let kept = try secret(of: 4)
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 4") }
        do {
            let store = try fixture.open(with: keys)
            #expect(try store.check(repairs: true).count == 1)
            #expect(try store.putAllBack().allSatisfy { $0 != nil }, "not while it is damaged")
            #expect(try store.quarantine.count == 1)
        }
        try mend(kept)
        let mended = try fixture.open(.locked)
        #expect(try mended.putAllBack() == [nil])
        let item = try #require(try mended.find(key("d")))
        #expect(item.id == reference)
        #expect(try mended.histories.values(of: item).values.map(\.number) == earlier)
        #expect(try mended.text(of: key("d")) == "secret d", "it is there always")
        #expect(try mended.quarantine == [])
        #expect(try mended.check() == [])
    }

    @Test func `destroys the former values of an item with it`() throws {
        func formerCount() throws -> Int64? {
            try fixture.connect().row("SELECT count(*) FROM past") { try $0.integer(0) }
        }
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 4") }
        do { _ = try fixture.open(with: keys).check(repairs: true) }
        #expect(try formerCount() == 2)
        do {
            let table = try fixture.open(with: keys).quarantineTable
            try table.discard(1)
        }
        #expect(try formerCount() == 0)
    }

    @Test func `puts nothing over what has taken its place`() throws {
        let kept = try secret(of: 1)
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 1") }
        do {
            let store = try fixture.open(with: keys)
            _ = try store.check(repairs: true)
            try store.put(key("a"), "another")
        }
        try mend(kept)
        let store = try fixture.open(with: keys)
        #expect(try store.putAllBack() == ["there is another item in its place"])
        #expect(try store.text(of: key("a")) == "another")
        #expect(try store.remove(key("a")))
        #expect(try store.putAllBack() == [nil])
        #expect(try store.text(of: key("a")) == "secret a")
        #expect(try store.check() == [])
    }

    @Test func `does not take a secret for whole that did not open, before its key is there`() throws {
        // Intact, as far as that can be known without the key.
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 1") }
        _ = try fixture.open(with: keys).check(repairs: true)
        try tamper { connection in
            try connection.execute("DELETE FROM keychain_quarantine")
            try connection.execute(
                """
                INSERT INTO keychain_quarantine (damage, moved, row, uuid, class_key, primary_tag, metadata, wrapped_key, secret)
                SELECT 'secret', 1, id, uuid, class_key, primary_tag, metadata, wrapped_key, secret
                FROM keychain_items WHERE id = 2
                """
            )
            try connection.execute("DELETE FROM keychain_items WHERE id = 2")
        }
        do {
            let locked = try fixture.open(.locked)
            #expect(try locked.putAllBack() == ["whether its secret opens shows when the vault is unlocked"])
        }
        let store = try fixture.open(with: keys)
        #expect(try store.putAllBack() == [nil])
        #expect(try store.text(of: key("b")) == "secret b")
    }

    @Test func `destroys what is named, and nothing else`() throws {
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id < 3") }
        let store = try fixture.open(with: keys)
        _ = try store.check(repairs: true)
        let entries = try store.quarantine
        try #require(entries.count == 2)
        try store.quarantineTable.discard(entries[0].number)
        #expect(try store.quarantine.map(\.number) == [entries[1].number])
        #expect(try store.text(of: key("c")) == "secret c")
    }

    @Test func `moves a row whole or not at all`() throws {
        try tamper { try $0.execute("UPDATE keychain_items SET secret = x'00' WHERE id = 4") }
        do {
            let connection = try fixture.connect()
            // The last step of the move.
            try connection.execute(
                "CREATE TEMP TRIGGER stopped BEFORE DELETE ON keychain_items BEGIN SELECT RAISE(ABORT, 'stopped'); END"
            )
            let store = KeychainStore(connection: connection, keys: keys)
            #expect(throws: DatabaseError.self) { _ = try store.check(repairs: true) }
            #expect(try store.quarantine == [])
        }
        try expect(["keychainItems 'service/d' exchangedSecret"], losing: ["d"])
    }
}
