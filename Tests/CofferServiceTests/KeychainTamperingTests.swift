import CofferClient
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Changes of the database while no daemon runs are detected and reported, and affect no other item.
@Suite struct KeychainTamperingTests {
    static let classes: [ItemClass] = [.genericPassword, .internetPassword, .certificate, .key]

    /// The stored row of an item.
    private struct ItemRow: Equatable {
        var uuid: [UInt8]
        var classKey: Int64
        var tag: [UInt8]
        var metadata: [UInt8]
        var wrappedKey: [UInt8]
        var secret: [UInt8]
    }

    /// The database of a vault that no daemon has open.
    private struct Store {
        let connection: Connection

        init(_ directory: TemporaryDirectory) throws {
            connection = try Connection(path: directory.appending("state/vault.sqlite"))
        }

        func row(_ number: Int) throws -> ItemRow {
            try #require(
                try connection.row(
                    """
                    SELECT uuid, class_key, primary_tag, metadata, wrapped_key, secret FROM keychain_items WHERE id = ?
                    """,
                    .integer(Int64(number))
                ) {
                    ItemRow(
                        uuid: try $0.blob(0),
                        classKey: try $0.integer(1),
                        tag: try $0.blob(2),
                        metadata: try $0.blob(3),
                        wrappedKey: try $0.blob(4),
                        secret: try $0.blob(5)
                    )
                }
            )
        }

        func write(_ row: ItemRow, at number: Int) throws {
            try connection.execute(
                """
                UPDATE keychain_items SET uuid = ?, class_key = ?, primary_tag = ?, metadata = ?, wrapped_key = ?, secret = ?
                WHERE id = ?
                """,
                .blob(row.uuid),
                .integer(row.classKey),
                .blob(row.tag),
                .blob(row.metadata),
                .blob(row.wrappedKey),
                .blob(row.secret),
                .integer(Int64(number))
            )
        }

        /// The numbers of the former values of an item, the oldest first.
        func values(of number: Int) throws -> [Int64] {
            var numbers: [Int64] = []
            try connection.rows(
                "SELECT number FROM past WHERE owner = ? ORDER BY number",
                .blob(try row(number).uuid)
            ) { row in
                numbers.append(try row.integer(0))
                return true
            }
            return numbers
        }

        /// The sealed row of a former value.
        func value(_ number: Int64) throws -> [UInt8] {
            try #require(
                try connection.row("SELECT sealed FROM past WHERE number = ?", .integer(number)) { try $0.blob(0) }
            )
        }

        func write(_ sealed: [UInt8], at number: Int64) throws {
            try connection.execute("UPDATE past SET sealed = ? WHERE number = ?", .blob(sealed), .integer(number))
        }

        /// Exchanges parts of two items.
        func exchange(_ one: Int, _ other: Int, _ parts: [WritableKeyPath<ItemRow, [UInt8]>]) throws {
            let (first, second) = (try row(one), try row(other))
            var (newFirst, newSecond) = (first, second)
            for part in parts {
                newFirst[keyPath: part] = second[keyPath: part]
                newSecond[keyPath: part] = first[keyPath: part]
            }
            // Tags and references are unique at every moment.
            var between = newSecond
            between.uuid = [0]
            between.tag = [0]
            try write(between, at: other)
            try write(newFirst, at: one)
            try write(newSecond, at: other)
        }
    }

    /// The attributes and the secret of an item of a class.
    private static func item(
        _ itemClass: ItemClass,
        _ number: Int
    ) throws -> (attributes: [KeychainAttribute: AttributeValue], secret: [UInt8]) {
        let label = KeychainAttribute.label
        switch itemClass {
        case .genericPassword, .internetPassword, .identity:
            return ([.account: .text("a\(number)"), label: .text("l\(number)")], Array("secret \(number)".utf8))
        case .key:
            let secret = pseudoRandomBytes(32, seed: UInt64(number))
            return ([.keyClass: .text("private"), .keyType: .text("ed25519"), label: .text("l\(number)")], secret)
        case .certificate:
            let path = "\(Project.root)/Tests/Vectors/keys/ed25519-certificate.pem"
            let pem = try String(contentsOfFile: path, encoding: .utf8)
            let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
            var der = Array(try #require(Data(base64Encoded: base64)))
            // Another serial number; the signature is not verified.
            let place = try #require(Data(der).range(of: Data([0x02, 0x14]))).upperBound
            der[place + 19] = UInt8(number)
            return ([label: .text("l\(number)")], der)
        }
    }

    /// Changes the database of a vault, and checks the reports of the daemon afterwards.
    private func check(
        _ itemClass: ItemClass,
        damaged: Set<Int>,
        _ what: String = "",
        accessible: [Accessibility] = [.whenUnlocked, .whenUnlocked, .whenUnlocked],
        tamper: (Store) throws -> Void
    ) throws {
        let directory = try vault(accessible: accessible)
        try tamper(try Store(directory))
        try expect(directory, itemClass, damaged: damaged, what)
    }

    /// A vault with three items of each class, the passwords with two former values.
    ///
    /// Rows 1 to 3 are of the first class, and so on.
    private func vault(
        accessible: [Accessibility] = [.whenUnlocked, .whenUnlocked, .whenUnlocked]
    ) throws -> TemporaryDirectory {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        for itemClass in Self.classes {
            for number in 1...3 {
                let (attributes, secret) = try Self.item(itemClass, number)
                let isPassword = itemClass == .genericPassword || itemClass == .internetPassword
                let reference = try client.add(
                    itemClass,
                    attributes,
                    isPassword ? Array("first \(number)".utf8) : secret,
                    accessible: accessible[number - 1]
                )
                guard isPassword else { continue }
                let query = KeychainQuery(reference: reference)
                try client.update(query, KeychainChange(), Array("second \(number)".utf8))
                try client.update(query, KeychainChange(), secret)
            }
        }
        return server.directory
    }

    /// Expects that items of a class are reported as damaged, and all others are unchanged.
    private func expect(
        _ directory: TemporaryDirectory,
        _ victimClass: ItemClass,
        damaged: Set<Int>,
        _ what: String
    ) throws {
        let server = try TestServer(in: directory)
        let client = try server.connect()
        for itemClass in Self.classes {
            var whole = 0
            for number in 1...3 {
                let (attributes, secret) = try Self.item(itemClass, number)
                let query = KeychainQuery(itemClass, [.label: attributes[.label] ?? .text("")])
                if itemClass == victimClass && damaged.contains(number) {
                    for returns in [[.data], [.attributes], []] as [Set<KeychainReturn>] {
                        let outcome = try Outcome { _ = try client.find(query, returns: returns) }
                        #expect(outcome == .refused(.decode), "\(itemClass) \(number): \(what)")
                    }
                    let changed = try Outcome {
                        try client.update(query, KeychainChange(attributes: [.comment: .text("c")]))
                    }
                    let answers: [Outcome] = [.refused(.decode), .refused(.param)]
                    #expect(answers.contains(changed), "\(itemClass) \(number): \(what)")
                    continue
                }
                whole += 1
                let found = try client.find(query)
                #expect(found.secrets == [secret], "\(itemClass) \(number): \(what)")
            }
            guard whole > 0 else { continue }
            let all = try client.find(KeychainQuery(itemClass)).secrets.count
            #expect(all == whole, "\(itemClass): \(what)")
        }
    }

    // MARK: Items

    @Test(arguments: classes)
    func `nothing is found where nothing was done, so that the other tests can fail`(itemClass: ItemClass) throws {
        try check(itemClass, damaged: []) { store in
            for number in 1...12 { try store.write(store.row(number), at: number) }
        }
    }

    @Test(arguments: classes)
    func `halves of two rows that were exchanged are found out`(itemClass: ItemClass) throws {
        let first = try #require(Self.classes.firstIndex(of: itemClass)) * 3 + 1
        let exchanges: [(String, [WritableKeyPath<ItemRow, [UInt8]>])] = [
            ("metadata", [\.metadata]), ("secrets", [\.secret]), ("keys", [\.wrappedKey]),
            ("secrets and keys", [\.secret, \.wrappedKey]), ("all three", [\.metadata, \.secret, \.wrappedKey]),
            ("references", [\.uuid]),
        ]
        for (name, parts) in exchanges {
            try check(itemClass, damaged: [1, 2], name) { try $0.exchange(first, first + 1, parts) }
        }
    }

    @Test(arguments: classes)
    func `a row that was copied over another one is found out`(itemClass: ItemClass) throws {
        let first = try #require(Self.classes.firstIndex(of: itemClass)) * 3 + 1
        for source in [first + 1, first == 1 ? 4 : 1] {
            try check(itemClass, damaged: [1], "from \(source)") { store in
                var copy = try store.row(source)
                let own = try store.row(first)
                copy.uuid = own.uuid
                copy.tag = own.tag
                try store.write(copy, at: first)
            }
        }
    }

    @Test(arguments: classes)
    func `a part from another vault's row is found out`(itemClass: ItemClass) throws {
        let first = try #require(Self.classes.firstIndex(of: itemClass)) * 3 + 1
        let foreign = try Store(vault()).row(first)
        let parts: [(String, WritableKeyPath<ItemRow, [UInt8]>)] = [
            ("metadata", \.metadata), ("secret", \.secret), ("key", \.wrappedKey), ("reference", \.uuid),
        ]
        for (name, part) in parts {
            try check(itemClass, damaged: [1], name) { store in
                var row = try store.row(first)
                row[keyPath: part] = foreign[keyPath: part]
                try store.write(row, at: first)
            }
        }
        try check(itemClass, damaged: [1], "the whole row") { try $0.write(foreign, at: first) }
    }

    @Test(arguments: classes)
    func `an item that was given another accessibility is found out`(itemClass: ItemClass) throws {
        let first = try #require(Self.classes.firstIndex(of: itemClass)) * 3 + 1
        let accessible: [Accessibility] = [.whenUnlocked, .always, .afterFirstUnlock]
        try check(itemClass, damaged: [1], accessible: accessible) { store in
            var row = try store.row(first)
            row.classKey = try store.row(first + 1).classKey
            try store.write(row, at: first)
        }
    }

    // MARK: Tags

    @Test(arguments: classes)
    func `tags that point to another item give no wrong one`(itemClass: ItemClass) throws {
        let first = Int64(try #require(Self.classes.firstIndex(of: itemClass)) * 3 + 1)
        let directory = try vault()
        do {
            let store = try Store(directory)
            // Every tag of the first item becomes that of the second, and of all others.
            try store.connection.execute(
                "UPDATE keychain_tags SET item = 100 WHERE item = ?",
                .integer(first)
            )
            for other in 1...12 as ClosedRange<Int64> where other != first {
                try store.connection.execute(
                    "INSERT OR IGNORE INTO keychain_tags (tag, item) SELECT tag, ? FROM keychain_tags WHERE item = 100",
                    .integer(other)
                )
            }
            try store.connection.execute("DELETE FROM keychain_tags WHERE item = 100")
        }
        let server = try TestServer(in: directory)
        let client = try server.connect()
        let (attributes, secret) = try Self.item(itemClass, 1)
        let outcome = try Outcome {
            _ = try client.find(KeychainQuery(itemClass, [.label: attributes[.label] ?? .text("")]))
        }
        #expect(outcome == .refused(.itemNotFound), "it is hidden, and no other one is given in its place")
        for number in 2...3 {
            let (attributes, secret) = try Self.item(itemClass, number)
            let found = try client.find(KeychainQuery(itemClass, [.label: attributes[.label] ?? .text("")])).secrets
            #expect(found == [secret])
        }
        // The item still exists, and its primary key can't be taken.
        let over = try Outcome { try client.add(itemClass, attributes, secret) }
        #expect(over == .refused(.duplicateItem))
    }

    // MARK: Former values

    @Test(arguments: [ItemClass.genericPassword, .internetPassword])
    func `former values that were exchanged, copied, or are another vault's are found out`(
        itemClass: ItemClass
    ) throws {
        let first = try #require(Self.classes.firstIndex(of: itemClass)) * 3 + 1
        let foreignStore = try Store(vault())
        let foreign = try foreignStore.value(try #require(try foreignStore.values(of: first).first))
        let changes: [(String, (Store, Int64) throws -> Void)] = [
            ("the row of another item", { try $0.write($0.value($0.values(of: first + 1)[0]), at: $1) }),
            ("another row of the item", { try $0.write($0.value($0.values(of: first)[1]), at: $1) }),
            ("the row of another vault", { store, number in try store.write(foreign, at: number) }),
            (
                "a changed byte",
                { store, number in
                    var sealed = try store.value(number)
                    sealed[sealed.count - 1] ^= 1
                    try store.write(sealed, at: number)
                }
            ),
            ("no row", { try $0.write([], at: $1) }),
        ]
        for (name, change) in changes {
            let directory = try vault()
            do {
                let store = try Store(directory)
                try change(store, try #require(try store.values(of: first).first))
            }
            try expectDamagedHistory(directory, itemClass, name, isListed: true)
        }
        // A value of another item, given to this one.
        let directory = try vault()
        do {
            let store = try Store(directory)
            let (own, other) = (try #require(try store.values(of: first).first), try store.row(first + 1).uuid)
            let copied = try #require(try store.values(of: first + 1).first)
            try store.connection.execute("UPDATE past SET owner = ? WHERE number = ?", .blob(other), .integer(own))
            try store.connection.execute(
                "UPDATE past SET owner = ?, sealed = ? WHERE number = ?",
                .blob(try store.row(first).uuid),
                .blob(try store.value(copied)),
                .integer(own)
            )
        }
        try expectDamagedHistory(directory, itemClass, "another item's row", isListed: true)
    }

    @Test(arguments: [ItemClass.genericPassword, .internetPassword])
    func `an older row that was put back before newer former values is found out in its history`(
        itemClass: ItemClass
    ) throws {
        let first = try #require(Self.classes.firstIndex(of: itemClass)) * 3 + 1
        let directory = try vault()
        let old = try Store(directory).row(first)
        do {
            let server = try TestServer(in: directory)
            let client = try server.connect()
            let query = KeychainQuery(itemClass, [.label: .text("l1")])
            try client.update(query, KeychainChange(), Array("newer".utf8))
        }
        try Store(directory).write(old, at: first)
        try expectDamagedHistory(directory, itemClass, "an older row", isListed: false)
    }

    /// Expects damage in the history of the first item of a class, and nowhere else.
    ///
    /// - Parameter isListed: Whether one value is damaged, or the item itself.
    private func expectDamagedHistory(
        _ directory: TemporaryDirectory,
        _ itemClass: ItemClass,
        _ what: String,
        isListed: Bool
    ) throws {
        let server = try TestServer(in: directory)
        let client = try server.connect()
        let query = KeychainQuery(itemClass, [.label: .text("l1")])
        if isListed {
            let history = try client.call(KeychainHistoryParameters(query)).value
            #expect(history.damaged.count == 1 && history.values.count == 1, "\(what)")
            let number = try #require(history.damaged.first)
            let refused = try Outcome { _ = try client.formerValue(Int(number), of: query) }
            #expect(refused == .refused(.decode), "\(what)")
        } else {
            let listed = try Outcome { _ = try client.keychainHistory(of: query) }
            #expect(listed == .refused(.decode), "\(what)")
        }
        #expect(try client.find(query).secrets == [Array("secret 1".utf8)], "\(what)")
        for number in 2...3 {
            let other = KeychainQuery(itemClass, [.label: .text("l\(number)")])
            let former = try client.formerSecrets(of: other)
            #expect(former == [Array("second \(number)".utf8), Array("first \(number)".utf8)], "\(what)")
        }
    }
}
