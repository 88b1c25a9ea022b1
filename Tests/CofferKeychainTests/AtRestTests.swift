import CofferCore
import CofferDatabase
import CofferKeychain
import CofferKeys
import CofferMemory
import Foundation
import CofferTestSupport
import Testing

extension Vault {
    /// Every byte that the vault has on the disk.
    fileprivate func filesOnDisk() throws -> [(name: String, bytes: Data)] {
        try FileManager.default.subpathsOfDirectory(atPath: temporary.path).map { name in
            (name, FileManager.default.contents(atPath: temporary.path(name)) ?? Data())
        }
    }

    /// The files in which something occurs, letters of either case.
    fileprivate func occurrences(of needle: [UInt8]) throws -> [String] {
        try filesOnDisk().filter { $0.bytes.range(of: Data(needle)) != nil }.map(\.name)
    }
}

@Suite struct `The keychain on the disk` {
    private static let words = [
        "service.example", "account-needle", "secret-needle-0123456789", "group-needle",
        "service.example/account-needle",
    ]

    /// The first sixteen bytes of SHA-256, SHA-512, SHA-1 and BLAKE2b (32, 64 and 16 bytes) of each word.
    private static let hashes = [
        "b714b29b08284988967d6a1b79274879",
        "558dd7b4f1559409a86e80ee220a5022",
        "291ab758aa7caa1108befd4dec1c5859",
        "c5d67fe785487cac030ed27b3d380892",
        "525e3d20b18385c9046363ee6b0616f4",
        "4b714db71be7b36ccf0e75680c2b3cca",
        "22bbf86f95c5c2d5a231e964592fb7b4",
        "118b775fba40dccc45bbf93ac9ca1d38",
        "1d005ff578b4dc7f65be85fa3e840741",
        "4a9033c36e6c97f03ec9cb3265469a48",
        "29d1400ece48121b28e028ada1d62bb4",
        "953ed83debe0fff6886caa0bc2573b51",
        "cb5541b8ff71db42a0fabbde18ceb4d5",
        "eae64d6a97de1ea5dadf752e67343909",
        "77169ae8b979ca92eca6d0063ddcc955",
        "ae98b3eff87d1ddead5f83340a50d782",
        "0f38c7542032d25348d244ce619bf717",
        "f5ce43a02524d7d693b65289522f2688",
        "c83309b7fd5d590a3991bbce160dae39",
        "c5b0f298b748cc4f5ceaf2a92d7d0ee7",
        "f8be1a302d8f6a6718d8793c880eba78",
        "daf175f634da40c4c3a0c82ddcc73c67",
        "e74876bc09996507271f5ae4f011467a",
        "f6f8015fce83c564ccd10abadedb733f",
        "9532df35dc14ab0925e4426b3fca3a5a",
        "d72f36375043220428e1b3ca4dbd750f",
        "c2511421bdbe54f9869504b739f21892",
        "7754bf160093b2f33f82e4571bb93ee2",
        "3c2adbe0cdea3aba302e1676d9df394b",
        "a388913fafdb156fb549baf49c59556b",
    ]

    private func check(_ vault: Vault) throws {
        for word in Self.words {
            #expect(try vault.occurrences(of: Array(word.utf8)) == [], "\(word)")
            #expect(try vault.occurrences(of: Array(word.utf16).flatMap { [UInt8($0), 0] }) == [], "\(word)")
            #expect(try vault.occurrences(of: Array(Data(word.utf8).base64EncodedData().dropLast(4))) == [], "\(word)")
        }
        for hash in Self.hashes {
            let bytes = stride(from: 0, to: hash.utf8.count, by: 2).compactMap { place in
                UInt8(String(Array(hash)[place...(place + 1)]), radix: 16)
            }
            #expect(bytes.count == 16)
            #expect(try vault.occurrences(of: bytes) == [], "\(hash)")
            #expect(try vault.occurrences(of: Array(hash.utf8)) == [], "\(hash)")
            #expect(try vault.occurrences(of: Array(hash.uppercased().utf8)) == [], "\(hash)")
        }
    }

    @Test(arguments: Accessibility.allCases)
    func `shows no name, no secret and no bare hash of one`(accessibility: Accessibility) throws {
        let fixture = try Fixture()
        let name = key("account-needle", service: "service.example", group: "group-needle")
        do {
            let store = try fixture.open(.unlocked)
            try store.put(name, "an earlier secret-needle-0123456789", accessibility)
            try store.put(name, "secret-needle-0123456789", accessibility)
            let id = try #require(try store.find(name)).id
            #expect(try fixture.vault.occurrences(of: id.bytes) != [], "what is there is found, so the search can fail")
            try check(fixture.vault)
        }
        // The log is written back into the database when it is closed.
        try check(fixture.vault)
        #expect(try !fixture.vault.filesOnDisk().contains { $0.name.hasSuffix("-wal") && !$0.bytes.isEmpty })
        do { #expect(try fixture.open(.locked).remove(name)) }
        try check(fixture.vault)
    }
}

private enum Column: String, CaseIterable {
    case uuid, tag, metadata, wrappedKey, secret
}

extension Connection {
    fileprivate func read(_ column: Column, of account: Int64) throws -> [UInt8] {
        try #require(
            try row(
                "SELECT uuid, primary_tag, metadata, wrapped_key, secret FROM keychain_items WHERE id = ?",
                .integer(account)
            ) {
                try $0.blob(Column.allCases.firstIndex(of: column) ?? 0)
            }
        )
    }

    fileprivate func write(_ bytes: [UInt8], to column: Column, of row: Int64) throws {
        switch column {
        case .uuid: try execute("UPDATE keychain_items SET uuid = ? WHERE id = ?", .blob(bytes), .integer(row))
        case .tag: try execute("UPDATE keychain_items SET primary_tag = ? WHERE id = ?", .blob(bytes), .integer(row))
        case .metadata: try execute("UPDATE keychain_items SET metadata = ? WHERE id = ?", .blob(bytes), .integer(row))
        case .wrappedKey:
            try execute("UPDATE keychain_items SET wrapped_key = ? WHERE id = ?", .blob(bytes), .integer(row))
        case .secret: try execute("UPDATE keychain_items SET secret = ? WHERE id = ?", .blob(bytes), .integer(row))
        }
    }
}

@Suite struct `A keychain that was tampered with` {
    let fixture: Fixture
    let keys: VaultKeys

    /// Rows 1, 2 and 3: the accounts a, b and c, all alike; row 4: d, of another class.
    init() throws {
        fixture = try Fixture()
        keys = try fixture.vault.open(.unlocked)
        let store = try fixture.open(with: keys)
        for account in ["a", "b", "c"] { try store.put(key(account), "secret \(account)", .whenUnlocked) }
        try store.put(key("d"), "secret d", .always)
    }

    private func tamper(_ body: (Connection) throws -> Void) throws {
        let connection = try fixture.connect()
        try connection.transaction { try body(connection) }
    }

    /// Whatever was done, these items are found out, and the others are as they were.
    private func expectDamage(of victims: Set<String>, _ what: String = "") throws {
        for state in [TestState.unlocked, .locked] {
            let store = state == .unlocked ? try fixture.open(with: keys) : try fixture.open(.locked)
            for account in ["a", "b", "c", "d"] {
                if victims.contains(account) {
                    #expect(code { _ = try store.find(key(account)) } == .decode, "\(account): \(what)")
                    #expect(code { _ = try store.secret(of: key(account)) } == .decode, "\(account): \(what)")
                } else {
                    #expect(try store.find(key(account)) != nil, "\(account): \(what)")
                    if state == .unlocked { #expect(try store.text(of: key(account)) == "secret \(account)") }
                }
            }
            let survey = try store.survey()
            #expect(survey.damaged == victims.count, "\(what)")
            #expect(Set(survey.accounts) == Set(["a", "b", "c", "d"]).subtracting(victims), "\(what)")
        }
    }

    @Test func `is well where nothing was done, so that the other tests can fail`() throws {
        try tamper { connection in
            for column in Column.allCases {
                try connection.write(try connection.read(column, of: 1), to: column, of: 1)
            }
        }
        try expectDamage(of: [])
    }

    @Test(
        arguments: [[.secret], [.wrappedKey], [.metadata], [.wrappedKey, .secret], [.metadata, .wrappedKey, .secret]]
            as [[Column]]
    )
    private func `shows it where halves of two rows were exchanged`(columns: [Column]) throws {
        try tamper { connection in
            for column in columns {
                let one = try connection.read(column, of: 1)
                try connection.write(try connection.read(column, of: 2), to: column, of: 1)
                try connection.write(one, to: column, of: 2)
            }
        }
        try expectDamage(of: ["a", "b"])
    }

    @Test func `shows an exchanged secret in the search that its item matches, and in no other`() throws {
        try tamper { connection in
            let other = try connection.read(.secret, of: 2)
            try connection.write(other, to: .secret, of: 1)
        }
        let store = try fixture.open(with: keys)
        func search(_ account: String) throws -> SearchPage {
            var query = ItemQuery(groups: .all)
            query.prefixes = [.account: account]
            return try store.index.search(query)
        }
        let (changed, other) = (try search("a"), try search("c"))
        #expect(changed.items.isEmpty)
        #expect(changed.damaged.map(\.code) == [.decode])
        #expect(other.items.count == 1)
        #expect(other.damaged.isEmpty)
    }

    @Test(arguments: [Int64(2), 4])
    func `shows it where a row was copied over another one`(source: Int64) throws {
        try tamper { connection in
            let copies = try [Column.metadata, .wrappedKey, .secret].map { ($0, try connection.read($0, of: source)) }
            for (column, bytes) in copies { try connection.write(bytes, to: column, of: 1) }
            try connection.execute(
                "UPDATE keychain_items SET class_key = (SELECT class_key FROM keychain_items WHERE id = ?) WHERE id = 1",
                .integer(source)
            )
        }
        try expectDamage(of: ["a"])
    }

    @Test func `shows it where all of a row but its tag is that of another one`() throws {
        try tamper { connection in
            let copies = try [Column.metadata, .wrappedKey, .secret, .uuid].map { ($0, try connection.read($0, of: 2)) }
            try connection.write(Array(repeating: 9, count: 16), to: .uuid, of: 2)
            for (column, bytes) in copies { try connection.write(bytes, to: column, of: 1) }
        }
        try expectDamage(of: ["a", "b"])
    }

    @Test func `shows it where two items took each other's names`() throws {
        try tamper { connection in
            let (one, other) = (try connection.read(.tag, of: 1), try connection.read(.tag, of: 2))
            try connection.write([0], to: .tag, of: 1)
            try connection.write(one, to: .tag, of: 2)
            try connection.write(other, to: .tag, of: 1)
        }
        try expectDamage(of: ["a", "b"])
    }

    @Test(arguments: [0, 1, 17, 18, 19, 20, 21, 22, 32, 99, 272, -240, Int64.max])
    func `shows it where an item was given another class`(value: Int64) throws {
        try tamper { try $0.execute("UPDATE keychain_items SET class_key = ? WHERE id = 1", .integer(value)) }
        try expectDamage(of: ["a"])
    }

    @Test(arguments: [Column.uuid, .metadata, .wrappedKey, .secret])
    private func `shows it where a byte is another`(column: Column) throws {
        let whole = try fixture.connect().read(column, of: 1)
        for place in whole.indices where whole.count < 100 || place % 7 == 0 || place >= whole.count - 16 {
            var changed = whole
            changed[place] ^= 0x40
            try tamper { try $0.write(changed, to: column, of: 1) }
            let store = try fixture.open(with: keys)
            #expect(code { _ = try store.secret(of: key("a")) } == .decode, "byte \(place)")
            #expect(code { _ = try store.find(key("a")) } == .decode, "byte \(place)")
        }
        var changed = whole
        changed[0] ^= 1
        try tamper { try $0.write(changed, to: column, of: 1) }
        try expectDamage(of: ["a"])
    }

    @Test(arguments: [Column.uuid, .metadata, .wrappedKey, .secret])
    private func `shows it where bytes are missing, or too many`(column: Column) throws {
        let whole = try fixture.connect().read(column, of: 1)
        for bytes in [[], Array(whole.prefix(1)), Array(whole.dropLast()), Array(whole.dropFirst()), whole + [0]] {
            try tamper { try $0.write(bytes, to: column, of: 1) }
            let store = try fixture.open(with: keys)
            #expect(code { _ = try store.secret(of: key("a")) } == .decode, "\(bytes.count) bytes")
        }
        try expectDamage(of: ["a"])
    }

    @Test func `a scan of all rows reports a row that look-ups can't find`() throws {
        try tamper { connection in
            var tag = try connection.read(.tag, of: 1)
            tag[31] ^= 1
            try connection.write(tag, to: .tag, of: 1)
        }
        let store = try fixture.open(with: keys)
        #expect(try store.survey().damaged == 1)
        #expect(try store.survey().accounts == ["b", "c", "d"])
        #expect(try store.find(key("a")) == nil, "by its name it can't be told from one that was never there")
    }

    @Test func `keeps a damaged item from being replaced, and lets it be removed`() throws {
        try tamper { try $0.write([1, 2, 3], to: .secret, of: 1) }
        do {
            let store = try fixture.open(with: keys)
            #expect(code { try store.put(key("a"), "new") } == .decode)
        }
        try expectDamage(of: ["a"])
        #expect(try fixture.open(with: keys).remove(key("a")))
        let store = try fixture.open(with: keys)
        try store.put(key("a"), "new")
        #expect(try store.text(of: key("a")) == "new")
        #expect(try store.survey().damaged == 0)
    }
}
