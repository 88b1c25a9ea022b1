import CofferCore
import CofferDatabase
import CofferKeys
import CofferPast
import CofferTestSupport
import Testing

/// Rows whose columns hold any number: they are found, and end nothing.
@Suite struct TrashRowTests {
    private let connection: Connection
    private let trash: PastStore
    private let vault: Vault

    init() throws {
        vault = try Vault(hasPasscode: false)
        connection = try Connection(path: vault.temporary.appending("vault.sqlite"))
        try connection.migrate(PastStore.migrations, applicationID: 1)
        try connection.execute("CREATE TABLE catalog_settings (name TEXT PRIMARY KEY, value BLOB NOT NULL)")
        trash = PastStore(connection: connection, keys: try vault.open(.noPasscode))
        for _ in 1...3 { _ = try discard() }
    }

    /// - Returns: The number of the entry.
    private func discard() throws -> Int64 {
        let label = TrashLabel(
            group: "default",
            name: "name",
            protection: .keychain(.whenUnlocked),
            itemClass: .genericPassword,
            kind: nil,
            byteCount: 1,
            removed: 0
        )
        let image = RowImage(id: ItemID(), classKey: 16, tag: [], metadata: [1], wrappedKey: [])
        return try trash.discard(image, label, withRowsOf: nil, at: TrashMoment(wall: 0, boot: 0, bootID: "one"))
    }

    @Test(arguments: [[3], [1, 2, 3], [3, 2, 1], [2]] as [[Int64]])
    func `no number is given again, whichever rows were removed`(removed: [Int64]) throws {
        for number in removed { _ = try trash.remove(number) }
        #expect(try discard() == 4)
        _ = try trash.remove(4)
        #expect(try discard() == 5)
        try connection.execute("DELETE FROM past")
        #expect(try discard() == 6)
    }

    @Test(arguments: [Int64.min, -2, 0, .max])
    func `an entry of any number is listed and checked, and each begins behind its own`(number: Int64) throws {
        try connection.execute("UPDATE past SET number = ? WHERE number = 2", .integer(number))
        let wanted = [1, 3, number].sorted()
        #expect(try trash.entries(of: "default", after: nil, limit: 10).map(\.number) == wanted)
        var found: [Int64] = []
        while found.count < 5,
            let checked = try trash.check(after: found.last, limit: 1, owned: { _, _ in .lost }).first
        {
            found.append(checked.number)
        }
        #expect(found == wanted)
    }

    @Test func `an entry of another trash is damaged, and not removed by a repair`() throws {
        try connection.execute("UPDATE past SET owner = randomblob(16) WHERE number = 2")
        let checked = try trash.check(after: nil, limit: 10, owned: { _, _ in .lost })
        let damaged = checked.filter { if case .damaged = $0.condition { true } else { false } }
        #expect(checked.count == 3 && damaged.map(\.number) == [2])
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `an entry that was removed at any time is kept for no longer than its time`(time: Int64) throws {
        try connection.execute("UPDATE past SET time = ?", .integer(time))
        for entry in try trash.entries(of: "default", after: nil, limit: 10) {
            for now in [0, 1000, Int64.max] { #expect((0...500).contains(entry.remaining(of: 500, at: now))) }
        }
        for now in [0, 1000, Int64.max] {
            let isDoomed = try trash.nextDoomed(lifetime: 500, bound: 1 << 20, time: now) != nil
            #expect(isDoomed == (time < now && now.nearestDifference(time) >= 500))
        }
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `a trash of any size is counted, and rows of counts that are wrong are passed`(count: Int64) throws {
        for tag in (0..<40).map(String.init) {
            try connection.execute(
                "INSERT INTO trash_keys (trash, group_tag, sealed, entries, bytes) VALUES (randomblob(16), ?, x'01', ?, ?)",
                .blob(Array(tag.utf8)),
                .integer(count),
                .integer(count)
            )
        }
        let total = try trash.total()
        #expect(total.count >= 3 && total.byteCount >= 0)
        if count == .max { #expect(total.count == 1 << 40 && total.byteCount == 1 << 60) }
        let isDoomed = try trash.nextDoomed(lifetime: 500, bound: 1 << 20, time: 400) != nil
        #expect(!isDoomed)
    }
}
