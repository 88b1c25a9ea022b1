import CofferCore
import CofferDatabase
import CofferFiles
import CofferTestSupport
import Foundation
import Testing

extension FileStore {
    /// Checks all of it, some rows at a time.
    fileprivate func check(repairs: Bool = false, groups: AccessGroups = ["default"]) throws -> [Finding] {
        let order = CheckOrder(groups: groups, repairs: repairs, now: 5000, limit: 2)
        var findings: [Finding] = []
        var place: Int64?
        repeat {
            let slice = try check(after: place, order)
            #expect(slice.checkedCount <= 2)
            findings += slice.findings
            place = slice.next
        } while place != nil
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
    fileprivate var words: String { "\(stage) \(name ?? "-") \(damage) \(repair)" }
}

@Suite struct `A check of the files` {
    let open: OpenStore

    init() throws {
        open = try OpenStore()
        for name in ["a", "b", "dir/c", "dir/sub/d"] { try open.put(name, "content of \(name)") }
    }

    /// The row of a file, found by its content.
    private func row(_ path: String) throws -> Int64 {
        let content = try open.contentPath(path).suffix(32)
        let id = try #require(ItemID(hexadecimal: String(content)))
        return try #require(
            try open.connection.row("SELECT id FROM file_nodes WHERE content = ?", .blob(id.bytes)) {
                try $0.integer(0)
            }
        )
    }

    /// The row of the directory that a file is in.
    private func directory(of path: String) throws -> Int64 {
        try #require(
            try open.connection.row("SELECT parent FROM file_nodes WHERE id = ?", .integer(try row(path))) {
                try $0.integer(0)
            }
        )
    }

    @Test func `finds nothing where nothing was done, so that the other tests can fail`() throws {
        #expect(try open.store.check() == [])
        #expect(try open.store.check(repairs: true) == [])
        #expect(try open.store.quarantine == [])
    }

    @Test(arguments: [-1, 0, .min, .max])
    func `finds a file whose row has a number that none gets`(number: Int64) throws {
        try open.connection.execute(
            "UPDATE file_nodes SET id = ? WHERE id = ?",
            .integer(number),
            .integer(try row("a"))
        )
        #expect(try open.store.check().map(\.stage) == [.files])
        #expect(try open.store.check(repairs: true).map(\.isRepaired) == [true])
        #expect(try open.store.check() == [])
        #expect(try open.store.quarantine.count == 1)
    }

    @Test(arguments: ["metadata", "kind", "class", "wrapped"])
    func `finds a damaged file, and the others answer`(what: String) throws {
        let number = try row("a")
        switch what {
        case "metadata":
            try open.connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE id = ?", .integer(number))
        case "kind": try open.connection.execute("UPDATE file_nodes SET kind = 7 WHERE id = ?", .integer(number))
        case "class": try open.connection.execute("UPDATE file_nodes SET class_key = 0 WHERE id = ?", .integer(number))
        default: try open.connection.execute("UPDATE file_nodes SET wrapped_key = x'00' WHERE id = ?", .integer(number))
        }
        let damage = what == "metadata" ? "metadata" : "row"
        // One that is no file any more was counted as one.
        let found = [damage] + (what == "kind" ? ["count"] : [])
        #expect(try open.store.check().map(\.damage.rawValue) == found)
        let repaired = try open.store.check(repairs: true)
        #expect(repaired.allSatisfy { $0.isRepaired })
        #expect(repaired.map(\.damage.rawValue) == found)
        #expect(try open.store.check() == [])
        #expect(try open.store.quarantine.count == 1)
        let survey = try open.survey()
        #expect(survey.damaged == 0)
        #expect(survey.paths == ["b", "dir/c", "dir/sub/d"])
        #expect(try open.store.count() == 3)
        try open.put("a", "new")
        #expect(try open.text("a") == "new")
    }

    @Test func `makes a directory in the place of a damaged one, so that its files answer again`() throws {
        let number = try directory(of: "dir/c")
        try open.connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE id = ?", .integer(number))
        let found = try open.store.check().map(\.words).sorted()
        #expect(
            found
                == [
                    "files 'c' missingOwner directory", "files 'sub' missingOwner directory",
                    "files - metadata quarantine",
                ].sorted()
        )
        _ = try open.store.check(repairs: true)
        #expect(try open.store.check() == [])
        let survey = try open.survey()
        #expect(survey.damaged == 0)
        let place = "recovered-" + String(number, radix: 16).leftPadded(to: 16)
        #expect(survey.paths == ["a", "b", "\(place)/c", "\(place)/sub/d"])
        #expect(try open.text("\(place)/sub/d") == "content of dir/sub/d")
    }

    @Test func `makes a directory in the place of one that is gone`() throws {
        let number = try directory(of: "dir/sub/d")
        try open.connection.execute("DELETE FROM file_nodes WHERE id = ?", .integer(number))
        #expect(try open.store.check().map(\.words) == ["files 'd' missingOwner directory"])
        _ = try open.store.check(repairs: true)
        #expect(try open.store.check() == [])
        #expect(try open.survey().paths.count == 4)
        #expect(try open.survey().damaged == 0)
    }

    @Test func `finds a wrong count, and counts again`() throws {
        try open.connection.execute("UPDATE file_count SET files = 9")
        #expect(try open.store.check().map(\.words) == ["counts the files count rewrite"])
        _ = try open.store.check(repairs: true)
        #expect(try open.store.count() == 4)
    }

    @Test(arguments: [Int64.max, .min])
    func `takes a count that no vault can have for damage of the count`(count: Int64) throws {
        try open.connection.execute("UPDATE file_count SET files = ?", .integer(count))
        // What adds to it, as the state of a vault does, must not overflow.
        #expect((0...Limits.countedRows).contains(try open.store.count()))
        #expect(try open.store.check().map(\.words) == ["counts the files count rewrite"])
    }

    @Test func `puts back what is whole again, where its directory still is`() throws {
        try open.connection.execute("CREATE TABLE kept AS SELECT * FROM file_nodes")
        let number = try row("dir/sub/d")
        try open.connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE id = ?", .integer(number))
        _ = try open.store.check(repairs: true)
        #expect(try open.store.putAllBack() == ["its metadata is not authentic"])
        // The directory waits for it.
        try open.connection.execute("UPDATE file_quarantine SET metadata = (SELECT metadata FROM kept WHERE id = row)")
        try open.put("dir/sub/d", "another")
        #expect(try open.store.putAllBack() == ["there is something else in its place"])
        try open.remove("dir/sub/d")
        #expect(try open.store.putAllBack() == [nil])
        #expect(try open.text("dir/sub/d") == "content of dir/sub/d")
        #expect(try open.store.check() == [])
        #expect(try open.store.count() == 4)
    }

    @Test func `keeps what is known of rewritten chunks, for as long as the file may go back`() throws {
        let number = try row("a")
        try open.connection.execute("INSERT INTO file_chunks VALUES (?, 0, 0, 5, x'00')", .integer(number))
        try open.connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE id = ?", .integer(number))
        _ = try open.store.check(repairs: true)
        #expect(try open.count("SELECT count(*) FROM file_chunks") == 1)
        try open.store.quarantineTable.discard(try #require(try open.store.quarantine.first).number)
        #expect(try open.count("SELECT count(*) FROM file_chunks") == 0)
        try open.remove("b")
        #expect(try open.store.check() == [])
    }

    @Test func `destroys the content of what is discarded, unless another one has it`() throws {
        let path = try open.contentPath("dir/sub/d")
        let other = try open.contentPath("b")
        for name in ["dir/sub/d", "b"] {
            try open.connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE id = ?", .integer(try row(name)))
        }
        _ = try open.store.check(repairs: true)
        #expect(FileManager.default.fileExists(atPath: path))
        let entries = try open.store.quarantine
        try open.connection.execute(
            "UPDATE file_nodes SET content = (SELECT content FROM file_quarantine WHERE parent = 0) WHERE parent = 0 AND kind = 2"
        )
        for entry in entries { try open.store.quarantineTable.discard(entry.number) }
        open.store.settleDurably()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(FileManager.default.fileExists(atPath: other))
        #expect(try open.store.quarantine == [])
        #expect(try open.count("SELECT count(*) FROM file_nodes WHERE kind = 1") == 1, "no directory is left empty")
    }

    @Test func `tells no name of a group that the caller does not hold`() throws {
        try open.connection.execute("DELETE FROM file_nodes WHERE id = ?", .integer(try directory(of: "dir/sub/d")))
        #expect(try open.store.check(groups: ["other"]).map(\.name) == [nil])
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String { String(repeating: "0", count: count - self.count) + self }
}
