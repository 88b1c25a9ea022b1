import CofferCore
import CofferDatabase
import CofferFiles
import CofferPast
import CofferTestSupport
import Foundation
import Testing

extension OpenStore {
    /// The rows of chunks.
    fileprivate var rowCount: Int { get throws { try count("SELECT count(*) FROM file_chunks") } }

    /// The removed files whose rows wait.
    fileprivate var listedCount: Int {
        get throws { try count("SELECT count(*) FROM file_dead_contents WHERE length(content) = 8") }
    }

    /// Gives a file rows of chunks.
    fileprivate func addRows(_ count: Int, to node: Int64) throws {
        try connection.execute(
            """
            WITH RECURSIVE numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers WHERE number < ?2)
            INSERT INTO file_chunks (node, chunk, slot, bytes, tag)
            SELECT ?1, number, number, 0, zeroblob(16) FROM numbers
            """,
            .integer(node),
            .integer(Int64(count))
        )
    }

    /// Lists a file as removed.
    fileprivate func list(_ node: Int64) throws {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: node >> (56 - 8 * $0)) }
        try connection.execute("INSERT INTO file_dead_contents (content) VALUES (?)", .blob(bytes))
    }

    /// Moves a file to the trash.
    ///
    /// - Returns: The number of the entry.
    fileprivate func discard(_ path: String) throws -> Int64 {
        // The clock of the trash is in a table of the catalog, and this store has no catalog.
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS catalog_settings (name TEXT PRIMARY KEY, value BLOB NOT NULL)"
        )
        let moment = TrashMoment(wall: 3, boot: 1, bootID: nil)
        let found = try store.discard(try ItemName(path), in: "default", bound: .max, at: moment)
        store.settleDurably()
        return try #require(found.entry)
    }

    /// Destroys an entry of the trash.
    fileprivate func destroy(_ entry: Int64) throws {
        try store.versions.remove(try store.past.remove(entry))
        store.settleDurably()
    }

    /// Removes the rows that can be removed.
    ///
    /// - Returns: The number of steps; 0 if nothing is known to be left.
    fileprivate func removeOrphans() throws -> Int {
        guard store.orphans.beginRemoval() else { return 0 }
        var steps = 1
        while try !store.orphans.removeSome() { steps += 1 }
        store.orphans.endRemoval(isComplete: true)
        return steps
    }
}

@Suite struct `The rows of the chunks of a file that is removed` {
    private static let many = 5000

    private let vault: Vault

    init() throws { vault = try Vault(hasPasscode: false) }

    private func open() throws -> OpenStore { try OpenStore(vault, try vault.open(.noPasscode)) }

    /// A store with a file that has many rows.
    private func filled() throws -> (open: OpenStore, node: Int64) {
        let open = try open()
        try open.put("file", "content")
        let node = try open.node("file")
        try open.addRows(Self.many, to: node)
        return (open, node)
    }

    @Test func `go after it in steps if they are many, and no others with them`() throws {
        let (open, _) = try filled()
        try open.put("other", "content")
        try open.addRows(Self.many, to: try open.node("other"))
        try open.remove("file")
        #expect(try open.find("file") == nil)
        #expect(try open.store.count() == 1)
        #expect(try open.rowCount == 2 * Self.many)
        #expect(try open.removeOrphans() == (Self.many + Limits.chunkRowsAtOnce - 1) / Limits.chunkRowsAtOnce)
        #expect(try open.rowCount == Self.many)
        #expect(try open.listedCount == 0)
        #expect(try open.removeOrphans() == 0)
        #expect(try open.text("other") == "content")
    }

    @Test func `go with it if they are few`() throws {
        let open = try open()
        try open.put("file", "content")
        try open.addRows(Limits.chunkRowsAtOnce, to: try open.node("file"))
        try open.remove("file")
        #expect(try open.rowCount == 0)
        #expect(try open.listedCount == 0)
        #expect(try open.removeOrphans() == 0)
    }

    @Test func `go on going after a kill between two steps`() throws {
        do {
            let (open, _) = try filled()
            try open.remove("file")
            #expect(open.store.orphans.beginRemoval())
            #expect(try !open.store.orphans.removeSome())
            #expect(try open.rowCount == Self.many - Limits.chunkRowsAtOnce)
        }
        let open = try open()
        try open.store.recover()
        #expect(try open.count("SELECT count(*) FROM file_dead_contents") == 1)
        #expect(try open.removeOrphans() > 1)
        #expect(try open.rowCount == 0)
        #expect(try open.listedCount == 0)
    }

    @Test func `stay if its removal is undone, and go with a later one`() throws {
        let (open, node) = try filled()
        try open.connection.beginBatch()
        try open.store.remove(try #require(try open.find("file")), now: 3)
        try open.connection.rollbackBatch()
        open.store.abandon(isCertain: true)
        #expect(open.store.orphans.takeFailure())
        #expect(!open.store.orphans.takeFailure())
        #expect(try open.removeOrphans() == 1)
        #expect(try open.node("file") == node)
        #expect(try open.rowCount == Self.many)
        try open.remove("file")
        #expect(try open.removeOrphans() > 1)
        #expect(try open.rowCount == 0)
    }

    @Test func `go if a step is undone`() throws {
        let (open, _) = try filled()
        try open.remove("file")
        #expect(open.store.orphans.beginRemoval())
        try open.connection.beginBatch()
        while try !open.store.orphans.removeSome() {}
        open.store.orphans.endRemoval(isComplete: true)
        try open.connection.rollbackBatch()
        open.store.abandon(isCertain: true)
        #expect(try open.rowCount == Self.many)
        #expect(open.store.orphans.takeFailure())
        #expect(try open.removeOrphans() > 1)
        #expect(try open.rowCount == 0)
        #expect(try open.listedCount == 0)
    }

    // MARK: Numbers that are none of a removed file

    enum Holder: CaseIterable {
        case tree, quarantine, trash
    }

    @Test(arguments: Holder.allCases) func `stay if it is there, whatever the list says`(holder: Holder) throws {
        let (open, node) = try filled()
        try open.list(node)
        switch holder {
        case .tree: break
        case .quarantine:
            try open.connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE id = ?", .integer(node))
            let order = CheckOrder(groups: ["default"], repairs: true, now: 5000, limit: 2)
            #expect(try open.store.check(after: nil, order).findings.count == 1)
        case .trash: _ = try open.discard("file")
        }
        let isInTree = try open.find("file") != nil
        #expect(isInTree == (holder == .tree))
        try open.store.recover()
        #expect(try open.removeOrphans() == 1)
        #expect(try open.rowCount == Self.many)
        #expect(try open.listedCount == 0)
    }

    // MARK: Out of the quarantine and the trash

    @Test func `go in steps when it is discarded from quarantine`() throws {
        let (open, node) = try filled()
        try open.connection.execute("UPDATE file_nodes SET metadata = x'00' WHERE id = ?", .integer(node))
        let order = CheckOrder(groups: ["default"], repairs: true, now: 5000, limit: 2)
        #expect(try open.store.check(after: nil, order).findings.count == 1)
        let entry = try #require(try open.store.quarantineTable.entries(after: 0, order).first)
        try open.store.quarantineTable.discard(entry.number)
        #expect(try open.rowCount == Self.many)
        #expect(try open.removeOrphans() > 1)
        #expect(try open.rowCount == 0)
    }

    @Test func `go in steps when the trash is emptied, and stay before`() throws {
        let (open, _) = try filled()
        let entry = try open.discard("file")
        #expect(try open.removeOrphans() == 0)
        #expect(try open.listedCount == 0)
        #expect(try open.rowCount == Self.many)
        try open.destroy(entry)
        #expect(try open.rowCount == Self.many)
        #expect(try open.removeOrphans() > 1)
        #expect(try open.rowCount == 0)
    }

    // MARK: Handles

    /// A file of many chunks that are written in place, open, and its content.
    private func written(_ open: OpenStore) throws -> (file: OpenFile, content: [UInt8]) {
        let content = pattern((Limits.chunkRowsAtOnce + 10) * 4096)
        let file = try open.create("file")
        try open.write(Array(content.prefix(4096)), at: 0, to: file)
        try open.write(Array(content.dropFirst(4096)), at: 4096, to: file)
        try open.sync(file)
        #expect(try open.rowCount == Limits.chunkRowsAtOnce + 10)
        return (file, content)
    }

    @Test func `stay for its handles, which read and write on, until the last is closed`() throws {
        let open = try open()
        let (file, content) = try written(open)
        try open.remove("file")
        #expect(file.isUnlinked)
        #expect(try open.removeOrphans() == 1)
        #expect(try open.rowCount == Limits.chunkRowsAtOnce + 10)
        #expect(try open.read(file, 0..<file.byteCount) == content)
        try open.write([9], at: 5000, to: file)
        #expect(try open.read(file, 0..<file.byteCount) == replacing(content, at: 5000, with: [9]))
        let extent = try open.store.plans.extent(at: 0, of: file)
        #expect(extent.byteCount > 4096 && !extent.isHole)
        #expect(try open.listedCount == 1)
        open.close(file)
        #expect(try open.removeOrphans() == 2)
        #expect(try open.rowCount == 0)
        #expect(try open.listedCount == 0)
    }

    @Test func `stay for the handles of a file in the trash that is emptied`() throws {
        let open = try open()
        let (writer, content) = try written(open)
        open.close(writer)
        let file = try open.open("file")
        try open.destroy(try open.discard("file"))
        _ = try open.removeOrphans()
        #expect(try open.read(file, 0..<file.byteCount) == content)
        open.close(file)
        _ = try open.removeOrphans()
        #expect(try open.rowCount == 0)
    }

    @Test func `are those of its handles again if its removal is undone`() throws {
        let open = try open()
        let (file, content) = try written(open)
        try open.connection.beginBatch()
        try open.store.remove(try #require(try open.find("file")), now: 3)
        #expect(file.isUnlinked)
        try open.connection.rollbackBatch()
        open.store.abandon(isCertain: true)
        #expect(!file.isUnlinked)
        _ = try open.removeOrphans()
        try open.write([9], at: 5000, to: file)
        try open.sync(file)
        open.close(file)
        #expect(try open.contents("file") == replacing(content, at: 5000, with: [9]))
        try open.remove("file")
        #expect(try open.removeOrphans() == 2)
        #expect(try open.rowCount == 0)
    }
}
